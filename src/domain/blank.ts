// Names that nobody can see.

/**
 * What leaves no mark on a screen: spaces, controls, joiners, marks of direction, fillers. Told here and not by the
 * pattern of a schema: clients that are generated from it read classes of Unicode in ways of their own.
 */
const invisible = /^[\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\u2800]+$/u

/** Whether a name is there and shows nothing. An empty one is refused by its length. */
export const isBlank = (name: string) => invisible.test(name)
