import { XMLParser, XMLValidator } from 'fast-xml-parser';

export interface Gather {
  readonly kind: 'gather';
  /** Texts that are said while keys are awaited. */
  readonly prompts: readonly string[];
  /** Null: the address of the document itself. */
  readonly action: string | null;
  readonly timeoutSeconds: number;
  /** Null: until the finish key or silence. */
  readonly numDigits: number | null;
  readonly finishOnKey: string;
}

export type Verb =
  | { readonly kind: 'say'; readonly text: string }
  | { readonly kind: 'message'; readonly text: string }
  | Gather
  | { readonly kind: 'hangup' }
  | { readonly kind: 'unsupported'; readonly name: string };

/** Twilio's code for a document it could not use; shown as the call's or message's problem. */
export class TwimlError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(`${code} ${message}`);
    this.name = 'TwimlError';
    this.code = code;
  }
}

interface Node {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly Node[];
  readonly text: string;
}

type RawNode = Readonly<Record<string, unknown>>;

const ATTRIBUTES = ':@';
const TEXT = '#text';

const parser = new XMLParser({
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: '',
  parseTagValue: false,
  parseAttributeValue: false,
  trimValues: false,
});

/** The verbs of a document in their order. Throws TwimlError 12100 (not XML), 12102 (wrong root). */
export function parseTwiml(xml: string): readonly Verb[] {
  if (XMLValidator.validate(xml) !== true || /<!DOCTYPE/i.test(xml))
    throw new TwimlError(12100, 'Document parse failure');
  const root = toNodes(parser.parse(xml)).find((node) => !node.name.startsWith('?') && node.name !== TEXT);
  if (root?.name !== 'Response') throw new TwimlError(12102, 'No Response element');
  return root.children.filter((node) => node.name !== TEXT).map(toVerb);
}

function toVerb(node: Node): Verb {
  switch (node.name) {
    case 'Say':
      return { kind: 'say', text: spokenIn(node) };
    case 'Gather':
      return toGather(node);
    case 'Hangup':
      return { kind: 'hangup' };
    case 'Message':
      return { kind: 'message', text: node.text.trim() };
    default:
      return { kind: 'unsupported', name: node.name };
  }
}

const spokenIn = ({ text }: Node): string => text.replaceAll(/\s+/g, ' ').trim();

function toGather(node: Node): Gather {
  const numDigits = wholeNumber(node, 'numDigits', 0);
  return {
    kind: 'gather',
    prompts: node.children.filter(({ name }) => name === 'Say').map(spokenIn),
    action: node.attributes['action'] || null,
    timeoutSeconds: wholeNumber(node, 'timeout', 5),
    numDigits: numDigits > 0 ? numDigits : null,
    finishOnKey: node.attributes['finishOnKey'] ?? '#',
  };
}

function wholeNumber(node: Node, attribute: string, otherwise: number): number {
  const text = node.attributes[attribute];
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : otherwise;
}

function toNodes(parsed: unknown): readonly Node[] {
  return Array.isArray(parsed) ? parsed.map((raw: RawNode) => toNode(raw)) : [];
}

function toNode(raw: RawNode): Node {
  const name = Object.keys(raw).find((key) => key !== ATTRIBUTES) ?? '';
  if (name === TEXT) return { name, attributes: {}, children: [], text: String(raw[TEXT]) };
  const children = toNodes(raw[name]);
  const text = children.map((child) => child.text).join('');
  return { name, attributes: toAttributes(raw[ATTRIBUTES]), children, text };
}

function toAttributes(raw: unknown): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(raw ?? {}).map(([name, value]) => [name, String(value)]));
}
