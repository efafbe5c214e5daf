// How fields of forms are declared.
import type { UseFormReturnType } from '@mantine/form'

export type Options = readonly (string | { value: string, label: string })[]

export interface Field {
  /** As the API names it. */
  name: string
  label: string
  kind?: 'text' | 'long' | 'number' | 'switch' | 'variables' | 'several' | 'date' | 'moment' | 'url' | 'tel'
  /** One of these, or several of them; of `number` fields the values are numbers. */
  options?: Options
  /** Shown as what can be typed. */
  suggestions?: readonly string[]
  hint?: string
  isRequired?: boolean
  /** Sent as null where it is empty, which takes away what was there. */
  isNullable?: boolean
  min?: number
  max?: number
  step?: number
  most?: number
  /** What the API takes where nothing is given; the input begins with it. */
  usual?: string | number | boolean | readonly string[]
}

export type Values = Record<string, unknown>
export type Form = UseFormReturnType<Values>
