import { AppError, type ErrorCode } from '#kernel/errors.ts';

/** A JSON object of a request. */
export type Body = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is Body {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the attribute by its name in any case, as RFC 7643 asks; undefined where it is absent. */
export function attributeOf(body: Body, name: string): unknown {
  if (Object.hasOwn(body, name)) return body[name];
  const lower = name.toLowerCase();
  const key = Object.keys(body).find((candidate) => candidate.toLowerCase() === lower);
  return key === undefined ? undefined : body[key];
}

/** Reads a text; null for an absent or empty one. Throws `invalidValue`. */
export function readText(value: unknown, name: string, lengthMax: number): string | null {
  if (value === undefined || value === null || value === '') return null;
  if (typeof value !== 'string') throw new ScimError('invalidValue', `${name} must be a text`);
  const text = value.trim();
  if (text.length > lengthMax) throw new ScimError('invalidValue', `${name} must have at most ${lengthMax} characters`);
  if (/\p{Cc}/u.test(text)) throw new ScimError('invalidValue', `${name} must not contain control characters`);
  if (!text.isWellFormed()) throw new ScimError('invalidValue', `${name} must be valid Unicode`);
  return text === '' ? null : text;
}

/** Reads a boolean. Entra ID sends `"True"` and `"False"`. Throws `invalidValue`. */
export function readBoolean(value: unknown, name: string): boolean {
  if (typeof value === 'boolean') return value;
  const text = typeof value === 'string' ? value.toLowerCase() : null;
  if (text === 'true') return true;
  if (text === 'false') return false;
  throw new ScimError('invalidValue', `${name} must be true or false`);
}

/** Keywords of RFC 7644, section 3.12. */
export type ScimType =
  | 'invalidFilter'
  | 'invalidPath'
  | 'invalidSyntax'
  | 'invalidValue'
  | 'mutability'
  | 'noTarget'
  | 'tooMany'
  | 'uniqueness';

const CODES: Readonly<Partial<Record<ScimType, ErrorCode>>> = { tooMany: 'payload_too_large', uniqueness: 'conflict' };

/** Refusal of a provisioning request, with the keyword that identity providers read. */
export class ScimError extends AppError {
  readonly scimType: ScimType;

  constructor(scimType: ScimType, message: string) {
    super(CODES[scimType] ?? 'invalid_input', message);
    this.scimType = scimType;
  }
}

/** Refusal of a change that was based on an earlier version of the resource. */
export class PreconditionFailed extends AppError {
  constructor() {
    super('conflict', 'the resource has changed since this version; read it again');
  }

  override get status(): number {
    return 412;
  }
}

export function errorBody(error: AppError): object {
  const scimType = error instanceof ScimError ? error.scimType : scimTypeOf(error);
  return {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
    status: String(error.status),
    ...(scimType !== null && { scimType }),
    detail: error.message,
  };
}

function scimTypeOf({ code, status }: AppError): ScimType | null {
  if (code === 'invalid_input') return 'invalidSyntax';
  return code === 'payload_too_large' && status === 413 ? 'tooMany' : null;
}
