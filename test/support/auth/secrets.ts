// What a service on back ends of its own must be told.

export const secrets = {
  JWT_SECRET: 'a secret for tests that is long enough 1',
  SECRET_KEY: 'a secret for tests that is long enough 2',
  LEAD_DIGEST_KEY: 'a secret for tests that is long enough 3'
}
