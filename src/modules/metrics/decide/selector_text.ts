/** A condition on a label, as the console builds it. */
export interface LabelCondition {
  readonly label: string;
  readonly operator: '=' | '!=' | '=~' | '!~';
  readonly value: string;
}

/** A label that needs no quotes. */
const PLAIN_LABEL = /^[A-Za-z_][\w.-]*$/;

/** A name that could be read as a part of a ratio without quotes. */
const IS_DIVIDED = /(^|\s)[/*](\s|$)/;

/** Returns the selector of a metric by its exact name, whatever characters that has; `parseSelector` reads it back. */
export function selectorOfName(name: string): string {
  return selectorText(name, []);
}

/** Returns the text of a selector: `http_requests_total{status="500"}`; `parseSelector` reads it back. */
export function selectorText(name: string, conditions: readonly LabelCondition[]): string {
  const isQuoted = name.includes('{') || IS_DIVIDED.test(name) || (conditions.length > 0 && name !== name.trim());
  const parts = conditions.map(
    ({ label, operator, value }) => `${PLAIN_LABEL.test(label) ? label : quoted(label)}${operator}${quoted(value)}`,
  );
  if (isQuoted) return `{${[quoted(name), ...parts].join(',')}}`;
  return parts.length === 0 ? name : `${name}{${parts.join(',')}}`;
}

function quoted(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`;
}
