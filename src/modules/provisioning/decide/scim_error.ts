import { AppError, type ErrorCode } from '#kernel/errors.ts';

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
