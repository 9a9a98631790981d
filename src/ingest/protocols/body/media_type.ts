export interface MediaType {
  /** Media type in lower case, without parameters; empty if there is none. */
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
}

/** Parses a Content-Type header. Never throws: a malformed one becomes a type that no protocol accepts. */
export function parseMediaType(contentType: string | undefined): MediaType {
  const [type = '', ...rest] = (contentType ?? '').split(';');
  const parameters = new Map<string, string>();
  for (const parameter of rest) {
    const equals = parameter.indexOf('=');
    if (equals === -1) continue;
    const value = parameter.slice(equals + 1).trim();
    parameters.set(parameter.slice(0, equals).trim().toLowerCase(), value.replace(/^"(.*)"$/, '$1'));
  }
  return { type: type.trim().toLowerCase(), parameters };
}
