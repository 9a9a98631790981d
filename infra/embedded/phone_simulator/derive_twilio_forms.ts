/**
 * Derives `twilio_forms.json` from Twilio's OpenAPI description of its 2010 API:
 * `npx node infra/embedded/phone_simulator/derive_twilio_forms.ts <twilio_api_v2010.json>`.
 * Only names, types and limits are kept; descriptions are left out.
 */
import { readFileSync, writeFileSync } from 'node:fs';

interface Schema {
  $ref?: string;
  type?: string;
  format?: string;
  enum?: string[];
  pattern?: string;
  minimum?: number;
  maximum?: number;
  items?: Schema;
  required?: string[];
  properties?: Record<string, Schema>;
}

interface Operation {
  requestBody?: { content: Record<string, { schema: Schema }> };
  parameters?: { name: string; in: string; schema: Schema }[];
}

interface Description {
  info: { version: string; license: { name: string } };
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

const [source] = process.argv.slice(2);
if (source === undefined) throw new Error('name the OpenAPI file');
const description: Description = JSON.parse(readFileSync(source, 'utf8'));

const ACCOUNT = '/2010-04-01/Accounts/{AccountSid}';

function named(reference: string): Schema {
  const schema = description.components.schemas[reference.slice(reference.lastIndexOf('/') + 1)];
  if (schema === undefined) throw new Error(`the description does not define ${reference}`);
  return schema;
}

function toField(schema: Schema): Schema {
  const { type, format, enum: values, pattern, minimum, maximum, items } = schema.$ref ? named(schema.$ref) : schema;
  return {
    ...(type !== undefined && { type }),
    ...(format !== undefined && { format }),
    ...(values !== undefined && { enum: values }),
    ...(pattern !== undefined && { pattern }),
    ...(minimum !== undefined && { minimum }),
    ...(maximum !== undefined && { maximum }),
    ...(items !== undefined && { items: toField(items) }),
  };
}

const toFields = (entries: (readonly [string, Schema])[]) =>
  Object.fromEntries(entries.map(([name, schema]) => [name, toField(schema)]));

function operation(path: string, method: 'get' | 'post'): Operation {
  const described = description.paths[ACCOUNT + path]?.[method];
  if (described === undefined) throw new Error(`the description has no ${method} ${path}`);
  return described;
}

function form(path: string) {
  const schema = operation(path, 'post').requestBody?.content['application/x-www-form-urlencoded']?.schema;
  return { required: schema?.required ?? [], fields: toFields(Object.entries(schema?.properties ?? {})) };
}

function query(path: string) {
  const parameters = (operation(path, 'get').parameters ?? []).filter((parameter) => parameter.in === 'query');
  return { required: [], fields: toFields(parameters.map(({ name, schema }) => [name, schema] as const)) };
}

const excerpt = {
  source: `Twilio OpenAPI, twilio_api_v2010.json, version ${description.info.version}; see twilio_forms.LICENSE.txt`,
  createMessage: form('/Messages.json'),
  listMessages: query('/Messages.json'),
  createCall: form('/Calls.json'),
  updateCall: form('/Calls/{Sid}.json'),
  listCalls: query('/Calls.json'),
};

writeFileSync(new URL('twilio_forms.json', import.meta.url), `${JSON.stringify(excerpt, null, 2)}\n`);
