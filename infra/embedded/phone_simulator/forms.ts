import twilioForms from './twilio_forms.json' with { type: 'json' };
import { TwilioRefusal } from './twilio_errors.ts';

/** A decoded form or query string: a name that was sent more than once has a list. */
export type Form = Readonly<Record<string, string | string[]>>;

export type FormName = 'createMessage' | 'listMessages' | 'createCall' | 'listCalls';

interface Field {
  readonly type?: string;
  readonly format?: string;
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: Field;
}

interface FormSchema {
  readonly required: readonly string[];
  readonly fields: Readonly<Record<string, Field>>;
}

/** Limits that Twilio's documentation states and its OpenAPI description leaves out. */
const DOCUMENTED: Readonly<Record<string, Field>> = {
  ValidityPeriod: { type: 'integer', minimum: 1, maximum: 36_000 },
  Timeout: { type: 'integer', minimum: 1, maximum: 600 },
  TimeLimit: { type: 'integer', minimum: 1, maximum: 86_400 },
  MachineDetection: { type: 'string', enum: ['Enable', 'DetectMessageEnd'] },
  MachineDetectionTimeout: { type: 'integer', minimum: 3, maximum: 59 },
  AsyncAmd: { type: 'string', enum: ['true', 'false'] },
  Twiml: { type: 'string', maximum: 4_000 },
};

const CALL_EVENTS = new Set(['initiated', 'ringing', 'answered', 'completed']);

/** Twilio's own code where a required field is missing. */
const MISSING: Readonly<Record<string, number>> = {
  'createMessage To': 21604,
  'createCall To': 21201,
  'createCall From': 21213,
};

/**
 * Refuses a form that Twilio's description does not allow. Stricter than Twilio, which ignores an unknown name and
 * only warns about an unknown event: here both are mistakes of the sender.
 */
export function checkForm(name: FormName, form: Form): void {
  const schema: FormSchema = twilioForms[name];
  for (const required of schema.required) {
    if (!form[required]) throw new TwilioRefusal(MISSING[`${name} ${required}`] ?? 20400, `${required} is required`);
  }
  for (const [field, sent] of Object.entries(form)) {
    const allowed = Object.hasOwn(schema.fields, field) ? schema.fields[field] : undefined;
    if (allowed === undefined) throw new TwilioRefusal(20001, `Unknown parameters: ${field}`);
    const fault = faultOf({ ...allowed, ...DOCUMENTED[field] }, sent);
    if (fault !== null) throw new TwilioRefusal(codeOf(name, field), `${field} ${fault}: ${String(sent)}`);
  }
  const events = listOf(form, 'StatusCallbackEvent');
  if (!events.every((event) => CALL_EVENTS.has(event))) throw new TwilioRefusal(21626);
}

/** The field's text, or undefined when it was not sent. */
export function textOf(form: Form, name: string): string | undefined {
  const value = form[name];
  return Array.isArray(value) ? value.at(-1) : value;
}

export function listOf(form: Form, name: string): readonly string[] {
  return [form[name] ?? []].flat();
}

export function numberOf(form: Form, name: string, otherwise: number): number {
  const text = textOf(form, name);
  return text === undefined ? otherwise : Number(text);
}

function codeOf(form: FormName, field: string): number {
  if (field === 'StatusCallback' && form === 'createMessage') return 21609;
  if (field === 'Url') return 21205;
  return 20400;
}

function faultOf(field: Field, sent: string | string[]): string | null {
  if (field.type === 'array') return firstFault(field.items ?? {}, [sent].flat());
  return Array.isArray(sent) ? 'was sent more than once' : faultOfText(field, sent);
}

function firstFault(field: Field, texts: readonly string[]): string | null {
  return texts.map((text) => faultOfText(field, text)).find((fault) => fault !== null) ?? null;
}

function faultOfText(field: Field, text: string): string | null {
  if (field.type === 'integer' && !/^-?\d+$/.test(text)) return 'is not an integer';
  if (field.type === 'number' && !/^-?\d+(\.\d+)?$/.test(text)) return 'is not a number';
  if (field.type === 'boolean' && !/^(true|false)$/.test(text)) return 'is not true or false';
  if (field.enum && !field.enum.includes(text)) return `is not one of ${field.enum.join(', ')}`;
  if (field.pattern && !new RegExp(field.pattern).test(text)) return `does not match ${field.pattern}`;
  if (field.format === 'uri' && !isWebAddress(text)) return 'is not an absolute http or https address';
  if (field.format === 'date-time' && Number.isNaN(Date.parse(text))) return 'is not a date';
  const size = field.type === 'string' ? text.length : Number(text);
  if (field.minimum !== undefined && size < field.minimum) return `is below ${field.minimum}`;
  if (field.maximum !== undefined && size > field.maximum) return `is above ${field.maximum}`;
  return null;
}

function isWebAddress(text: string): boolean {
  return /^https?:\/\/[^\s]+$/.test(text) && URL.canParse(text);
}
