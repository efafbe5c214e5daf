// Which users a token may name.

/** 1 to 128 printable characters. */
export const isSubject = (sub: unknown): sub is string => typeof sub === 'string' && /^[^\p{C}]{1,128}$/u.test(sub)
