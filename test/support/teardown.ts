// The part of a test that helpers need: it registers how to undo their set-up.

export interface Teardown { teardown (undo: () => unknown): void }
