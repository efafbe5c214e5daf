// The roles that a process can have.

export type Role = 'api' | 'projector' | 'worker'
