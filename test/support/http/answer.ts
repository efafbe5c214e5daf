// An answer of the API, as tests look at it.

export interface Answer {
  status: number
  headers: Headers
  // Tests look into answers of every shape; a wrong guess fails the test.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  body: any
}
