import { constants, createPublicKey, type KeyObject, verify } from 'node:crypto';

/** The event that a logout token reports (OpenID Connect Back-Channel Logout 1.0). */
const LOGOUT_EVENT = 'http://schemas.openid.net/event/backchannel-logout';

/** Age of a token beyond which it counts as a replay, and how far the provider's clock may be ahead. */
const AGE_SECONDS_MAX = 300;
const AHEAD_SECONDS_MAX = 30;
const TEXT_LENGTH_MAX = 500;
const TYPE = /^(?:application\/)?(?:logout\+)?jwt$/i;
const KEYS_MAX = 100;
const RSA_BITS_MIN = 2_048;

/** Claims that a token must have, and the algorithms that are accepted. */
interface Expected {
  readonly issuer: string;
  readonly clientId: string;
  readonly algorithms: ReadonlySet<string>;
  readonly nowSeconds: number;
}

export interface ReportedLogout {
  /** Person at the provider. */
  readonly subject: string;
  readonly tokenId: string;
}

type Fields = Readonly<Record<string, unknown>>;

/** A logout token whose claims are right and whose signature is not checked yet. */
interface UncheckedLogoutToken {
  readonly logout: ReportedLogout;
  /** Whether one of these keys of the provider has signed it. */
  isSignedBy(keys: readonly unknown[]): boolean;
}

/** Reads a logout token, and checks everything but its signature. Throws for one that is not for this client now. */
export function readLogoutToken(
  token: string,
  { issuer, clientId, algorithms, nowSeconds }: Expected,
): UncheckedLogoutToken {
  const [header, payload, signature, ...more] = token.split('.');
  if (header === undefined || payload === undefined || signature === undefined || more.length > 0) {
    throw new Error('the logout token has not three parts');
  }
  const { alg, kid, typ, crit } = decode(header);
  if (typeof alg !== 'string' || !algorithms.has(alg)) throw new Error('the algorithm is not accepted');
  if (crit !== undefined) throw new Error('the token has extensions that must be understood');
  if (typ !== undefined && !(typeof typ === 'string' && TYPE.test(typ))) throw new Error('it is no JWT');
  const claims = decode(payload);
  const logout = logoutOf(claims, { issuer, clientId, nowSeconds });
  const data = Buffer.from(`${header}.${payload}`);
  const bytes = Buffer.from(signature, 'base64url');
  return {
    logout,
    isSignedBy: (keys) =>
      keys
        .slice(0, KEYS_MAX)
        .map(fieldsOf)
        .filter((key) => isFor(key, alg, kid))
        .some((key) => isSigned(alg, key, { data, bytes })),
  };
}

function logoutOf(claims: Fields, { issuer, clientId, nowSeconds }: Omit<Expected, 'algorithms'>): ReportedLogout {
  const { iss, aud, iat, exp, jti, sub, events } = claims;
  if (iss !== issuer) throw new Error('the token is of another issuer');
  if (aud !== clientId && !(Array.isArray(aud) && aud.includes(clientId))) throw new Error('it is for another client');
  if (typeof iat !== 'number' || iat < nowSeconds - AGE_SECONDS_MAX || iat > nowSeconds + AHEAD_SECONDS_MAX) {
    throw new Error('the token is not of now');
  }
  if (exp !== undefined && !(typeof exp === 'number' && exp > nowSeconds - AHEAD_SECONDS_MAX)) {
    throw new Error('the token has expired');
  }
  const event = fieldsOf(events)[LOGOUT_EVENT];
  if (typeof event !== 'object' || event === null) throw new Error('the token reports no logout');
  // An ID token has one: it is never taken for a logout.
  if ('nonce' in claims) throw new Error('the token has a nonce');
  if (!isName(jti) || !isName(sub)) throw new Error('the token has no id, or names nobody');
  return { subject: sub, tokenId: jti };
}

/** Whether a published key may have made a signature by this algorithm. */
function isFor({ kty, use, alg: algorithm, kid: name }: Fields, alg: string, kid: unknown): boolean {
  const kind = alg.startsWith('ES') ? 'EC' : alg.startsWith('Ed') ? 'OKP' : 'RSA';
  const isOther = (stated: unknown, wanted: unknown) => stated !== undefined && stated !== wanted;
  return kty === kind && !isOther(use, 'sig') && !isOther(algorithm, alg) && (kid === undefined || name === kid);
}

const CURVES: Readonly<Record<string, string>> = { ES256: 'prime256v1', ES384: 'secp384r1', ES512: 'secp521r1' };

function isSigned(alg: string, jwk: Fields, { data, bytes }: { data: Buffer; bytes: Buffer }): boolean {
  const key = keyOf(jwk);
  if (key === null) return false;
  if (alg.startsWith('Ed')) return key.asymmetricKeyType === 'ed25519' && verify(null, data, key, bytes);
  const hash = `sha${alg.slice(2)}`;
  const { namedCurve, modulusLength = 0 } = key.asymmetricKeyDetails ?? {};
  if (alg.startsWith('ES')) {
    return namedCurve === CURVES[alg] && verify(hash, data, { key, dsaEncoding: 'ieee-p1363' }, bytes);
  }
  if (modulusLength < RSA_BITS_MIN) return false;
  const { RSA_PKCS1_PSS_PADDING, RSA_PKCS1_PADDING, RSA_PSS_SALTLEN_DIGEST } = constants;
  return alg.startsWith('PS')
    ? verify(hash, data, { key, padding: RSA_PKCS1_PSS_PADDING, saltLength: RSA_PSS_SALTLEN_DIGEST }, bytes)
    : verify(hash, data, { key, padding: RSA_PKCS1_PADDING }, bytes);
}

function keyOf(jwk: Fields): KeyObject | null {
  try {
    return createPublicKey({ key: jwk, format: 'jwk' });
  } catch {
    return null;
  }
}

function decode(part: string): Fields {
  return fieldsOf(JSON.parse(Buffer.from(part, 'base64url').toString()));
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= TEXT_LENGTH_MAX && !value.includes('\0');
}
