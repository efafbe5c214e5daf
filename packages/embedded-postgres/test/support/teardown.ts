// What a helper needs of a test: a place to say what undoes its set-up.

export interface Teardown { teardown (undo: () => unknown): void }
