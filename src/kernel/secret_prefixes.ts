/**
 * Prefixes of the secrets of the product, so that logs, secret scanners and people know a leaked one by its form. A
 * kind that is not listed here cannot be made (`#auth/secret_text.ts`).
 */
export const SECRET_PREFIXES = {
  apiKey: 'tocsin_key',
  provisioning: 'tocsin_scm',
  ingestKey: 'tocsin_ing',
  calendar: 'tocsin_cal',
  session: 'tocsin_ses',
  pendingSignIn: 'tocsin_pen',
  device: 'tocsin_dev',
  signInAttempt: 'tocsin_att',
  reset: 'tocsin_rst',
  invitation: 'tocsin_inv',
  accessToken: 'tocsin_oat',
  refreshToken: 'tocsin_ort',
  authorizationCode: 'tocsin_oac',
  clientSecret: 'tocsin_ocs',
} as const;

export type SecretPrefix = (typeof SECRET_PREFIXES)[keyof typeof SECRET_PREFIXES];
