import { type Filter, parseFilter } from '#modules/provisioning/decide/scim_filter.ts';
import { attributeOf, type Body, isObject, ScimError } from './scim_values.ts';

const PATCH_SCHEMA = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';
const CORE_SCHEMA = /^urn:ietf:params:scim:schemas:core:2\.0:(?:user|group):/i;
const OPERATIONS_MAX = 1_000;
const PATH_LENGTH_MAX = 1_000;
const PATH = /^([A-Za-z$][\w$-]*)(?:\[(.*)\])?(?:\.([A-Za-z$][\w$-]*))?$/;

/** Place that an operation names: `emails[type eq "work"].value`. */
export interface PatchPath {
  /** Name of the attribute in lower case; null for one of an extension. */
  readonly attribute: string | null;
  readonly filter: Filter | null;
  /** Name of the part of the attribute in lower case; null for the whole. */
  readonly part: string | null;
}

/** One change of one attribute. */
export interface PatchOperation {
  readonly op: 'add' | 'replace' | 'remove';
  readonly path: PatchPath;
  readonly value: unknown;
}

/**
 * Reads the operations of a PATCH as Okta and Entra ID spell them: names of operations in any case, values without a
 * path, whose attributes become an operation each. Throws `invalidSyntax`, `invalidPath`, `noTarget`, `tooMany`.
 */
export function readPatch(body: unknown): PatchOperation[] {
  const operations = isObject(body) ? attributeOf(body, 'Operations') : undefined;
  if (!isObject(body) || !Array.isArray(operations) || operations.length === 0) {
    throw new ScimError('invalidSyntax', 'the body must have Operations, an array of at least one operation');
  }
  const schemas = attributeOf(body, 'schemas');
  if (!Array.isArray(schemas) || !schemas.includes(PATCH_SCHEMA)) {
    throw new ScimError('invalidSyntax', `schemas must name ${PATCH_SCHEMA}`);
  }
  if (operations.length > OPERATIONS_MAX) {
    throw new ScimError('tooMany', `send at most ${OPERATIONS_MAX} operations at once`);
  }
  return operations.flatMap((operation: unknown, index) => readOperation(operation, `Operations[${index}]`));
}

function readOperation(operation: unknown, name: string): PatchOperation[] {
  if (!isObject(operation)) throw new ScimError('invalidSyntax', `${name} must be an object`);
  const op = readName(attributeOf(operation, 'op'), name);
  const value = attributeOf(operation, 'value');
  const path = attributeOf(operation, 'path');
  if (path !== undefined && path !== null && path !== '') return [{ op, path: readPath(path), value }];
  if (op === 'remove') throw new ScimError('noTarget', `${name}: remove needs a path`);
  if (!isObject(value)) throw new ScimError('invalidSyntax', `${name} needs a path, or a value that is an object`);
  return ofValue(op, value);
}

function readName(op: unknown, name: string): PatchOperation['op'] {
  const lower = typeof op === 'string' ? op.toLowerCase() : null;
  if (lower === 'add' || lower === 'replace' || lower === 'remove') return lower;
  throw new ScimError('invalidSyntax', `${name}: op must be add, replace or remove`);
}

/** Returns an operation for each attribute of a value without a path; the core schema may be around them. */
function ofValue(op: PatchOperation['op'], value: Body): PatchOperation[] {
  return Object.entries(value).flatMap(([key, inner]) => {
    if (CORE_SCHEMA.test(`${key}:`) && isObject(inner)) return ofValue(op, inner);
    return [{ op, path: readPath(key), value: inner }];
  });
}

/** Reads a path. Throws `invalidPath`, `invalidFilter`. */
export function readPath(path: unknown): PatchPath {
  if (typeof path !== 'string' || path.length > PATH_LENGTH_MAX) {
    throw new ScimError('invalidPath', `a path must be a text of at most ${PATH_LENGTH_MAX} characters`);
  }
  const core = path.trim().replace(CORE_SCHEMA, '');
  if (/^urn:/i.test(core)) return { attribute: null, filter: null, part: null };
  const match = PATH.exec(core);
  if (match === null) throw new ScimError('invalidPath', `"${path}" is not a path of an attribute`);
  const [, attribute = '', filter, part] = match;
  return {
    attribute: attribute.toLowerCase(),
    filter: filter === undefined ? null : parseFilter(filter),
    part: part === undefined ? null : part.toLowerCase(),
  };
}
