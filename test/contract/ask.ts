import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { expect } from 'vitest';

import { ACTIONS_PATH } from '#entry/http/rest.ts';
import { openApiDocument } from '#entry/http/openapi/document.ts';
import type { World } from '#test/kit/world.ts';

/** Deviations of a test's call from a well-made request with the organization's key. */
interface Call {
  /** An object is sent as JSON, a text as it is; null sends nothing. */
  readonly body?: object | string | Buffer | null;
  readonly key?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: string;
  readonly address?: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | number | undefined>>;
  readonly text: string;
  // eslint-disable-next-line typescript/no-explicit-any -- tests look into bodies of any shape
  readonly body: any;
}

const DOCUMENT = JSON.parse(JSON.stringify(openApiDocument('http://tocsin.test')));
const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true });
formats.default(ajv);
ajv.addVocabulary(Object.keys(DOCUMENT));
ajv.addSchema({ ...DOCUMENT, $id: 'openapi' });
const validators = new Map<string, ValidateFunction>();

let asked = 0;

/** Returns the number of calls that this file has made so far; each was checked against the document. */
export function callsMade(): number {
  return asked;
}

/**
 * Calls an action, and holds the answer to the published document: the status is one that the operation lists, the
 * headers are there, the body fits. Unknown actions and other methods are held to the problem alone.
 */
export async function ask(w: World, action: string, call: Call = {}): Promise<Answer> {
  const { body = {}, key = w.orgKey, headers = {}, method = 'POST', address } = call;
  const response = await w.app.inject({
    method: method as 'POST',
    url: `${ACTIONS_PATH}/${action}`,
    headers: {
      ...(body === null ? {} : { 'content-type': 'application/json' }),
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      ...headers,
    },
    ...(body === null
      ? {}
      : { payload: typeof body === 'object' && !Buffer.isBuffer(body) ? JSON.stringify(body) : body }),
    ...(address === undefined ? {} : { remoteAddress: address }),
  });
  const text = response.body;
  const answer = {
    status: response.statusCode,
    headers: response.headers,
    text,
    body: text === '' ? null : JSON.parse(text),
  };
  asked += 1;
  holdToDocument(action, method, answer);
  return answer;
}

function holdToDocument(action: string, method: string, { status, headers, body }: Answer): void {
  const description = `${action} answered ${status} ${JSON.stringify(body)}`;
  expect(headers['x-request-id'], description).toMatch(/^req_/);
  if (status !== 200) expect(headers['content-type'], description).toBe('application/problem+json; charset=utf-8');
  if (method === 'HEAD') return;
  const name = action.split('?')[0]!.replace('%5F', '_');
  const operation = DOCUMENT.paths[`${ACTIONS_PATH}/${name}`]?.post;
  if (operation === undefined || status === 405) {
    expect(errorsOf('#/components/schemas/Problem', body), description).toEqual([]);
    return;
  }
  const listed = operation.responses[status];
  expect(listed, description).toBeDefined();
  const [pointer, response] =
    listed.$ref === undefined
      ? [`#/paths/${ACTIONS_PATH.replaceAll('/', '~1')}~1${name}/post/responses/${status}`, listed]
      : [listed.$ref as string, DOCUMENT.components.responses[(listed.$ref as string).split('/').at(-1)!]];
  for (const name of Object.keys(response.headers)) expect(headers[name], `${name}: ${description}`).toBeDefined();
  const type = status === 200 ? 'application/json' : 'application/problem+json';
  expect(headers['content-type'], description).toContain(type);
  expect(errorsOf(`${pointer}/content/${type.replaceAll('/', '~1')}/schema`, body), description).toEqual([]);
}

function errorsOf(pointer: string, body: unknown): string[] {
  const validate = validators.get(pointer) ?? ajv.compile({ $ref: `openapi${pointer}` });
  validators.set(pointer, validate);
  validate(body);
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}
