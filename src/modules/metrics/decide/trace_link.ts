import { fault, ok, type Parsed, shown } from '#modules/contacts/decide/parsed.ts';

/** Placeholder for the trace id in the address of a tool that shows traces. */
export const TRACE_ID = '{traceId}';

export const TRACE_LINK_LENGTH_MAX = 500;

/** Characters that no address has as they are, and that would end an attribute or a line. */
const NOT_OF_ADDRESS = /[\s"'<>\\^`|\p{C}]/u;

/**
 * Parses an address such as `https://traces.example.com/trace/{traceId}`. It is opened by people's browsers, so it has
 * to be http or https, without a password in it, and its host is fixed.
 */
export function parseTraceLink(text: string, path = 'traceLink'): Parsed<string> {
  const link = text.trim();
  if (link.length > TRACE_LINK_LENGTH_MAX) return fault(path, `must have at most ${TRACE_LINK_LENGTH_MAX} characters`);
  if (!link.includes(TRACE_ID)) return fault(path, `must hold ${TRACE_ID}, where the id of the trace belongs`);
  if (NOT_OF_ADDRESS.test(link)) return fault(path, 'must be an address without spaces, quotes or angle brackets');
  const url = readUrl(link.replaceAll(TRACE_ID, '0'));
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    return fault(path, `${shown(link)} is no address that begins with https:// or http://`);
  }
  if (url.username !== '' || url.password !== '') return fault(path, 'must hold no user name and no password');
  // The address has to lead to the same host with another id, or the id would choose the host.
  if (readUrl(link.replaceAll(TRACE_ID, '1'))?.host !== url.host) {
    return fault(path, `must hold ${TRACE_ID} after the name of the host`);
  }
  return ok(link);
}

/** Returns the address of a trace. Senders choose ids, so nothing of one is read as a part of the address. */
export function traceUrl(link: string, traceId: string): string {
  return link.replaceAll(TRACE_ID, () => encodeURIComponent(traceId.toWellFormed()));
}

function readUrl(text: string): URL | null {
  return URL.canParse(text) ? new URL(text) : null;
}
