import { cutLinks } from '#modules/alerts/decide/alert_links.ts';
import { toolOf } from '#modules/alerts/decide/tools.ts';

/** A detail of an alert, as it is shown: its path and its value as text. */
export interface ShownFact {
  readonly name: string;
  readonly value: string;
}

interface ShownLink {
  readonly href: string;
  readonly text: string;
}

const FACTS_MAX = 60;
const VALUE_LENGTH_MAX = 2_000;
const DEPTH_MAX = 4;

/** Returns the facts that an incident shows of the alert that opened it, whatever its details hold. */
export function shownFacts(details: Readonly<Record<string, unknown>>): {
  readonly tool: string | null;
  /** Name of the source; null if the details do not say. */
  readonly source: string | null;
  /** Name by which the tool knows the alert. */
  readonly key: string | null;
  readonly facts: readonly ShownFact[];
  readonly links: readonly ShownLink[];
  /** Images, which are linked to and never loaded: whoever sent them would learn who looks. */
  readonly images: readonly ShownLink[];
} {
  const facts: ShownFact[] = [];
  collect(details['said'], '', 0, facts);
  const source = details['source'];
  const protocol = textOf(propertyOf(source, 'protocol'));
  return {
    tool: textOf(propertyOf(source, 'tool')),
    source: protocol === null ? null : toolOf(protocol, textOf(propertyOf(source, 'name')) ?? ''),
    key: textOf(details['alertKey']),
    facts,
    links: linksIn(details['links']),
    images: linksIn(details['images']),
  };
}

function linksIn(value: unknown): readonly ShownLink[] {
  const links: readonly unknown[] = Array.isArray(value) ? value : [];
  return cutLinks(links.map((link) => ({ href: propertyOf(link, 'href'), text: propertyOf(link, 'text') })));
}

function collect(value: unknown, path: string, depth: number, facts: ShownFact[]): void {
  if (facts.length >= FACTS_MAX || value === undefined || value === null || value === '') return;
  if (typeof value !== 'object' || depth >= DEPTH_MAX) {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    facts.push({ name: path, value: text.length > VALUE_LENGTH_MAX ? `${text.slice(0, VALUE_LENGTH_MAX)}…` : text });
    return;
  }
  for (const [name, inner] of Object.entries(value)) {
    collect(inner, path === '' ? name : `${path}.${name}`, depth + 1, facts);
  }
}

function propertyOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
