import { asList, asObject, asText, type JsonObject, parseJson } from '#ingest/protocols/sentry/json.ts';
import { notSentry } from '#ingest/protocols/sentry/body.ts';
import { AppError } from '#kernel/errors.ts';

/** Browsers send up to a few dozen at once. */
const REPORTS_MAX = 10;
/** Of all reports of a request: they are read in one go, and a real one has one or two kilobytes. */
const REPORTS_BYTES_MAX = 64 * 1024;
const TEXT_LENGTH_MAX = 2_000;

interface Violation {
  readonly directive: string;
  readonly blocked: string;
  readonly page: string;
  readonly data: JsonObject;
}

/**
 * The events that a browser's reports stand for: of a content security policy, as `report-uri` and as the Reporting API
 * send them. One directive that blocks one host is one group.
 */
export function securityEvents(body: Buffer, release: string | null, environment: string | null): Buffer[] {
  if (body.length > REPORTS_BYTES_MAX) {
    throw new AppError('payload_too_large', `reports of a browser have at most ${REPORTS_BYTES_MAX} bytes a request`);
  }
  const sent = parseJson(body);
  if (sent === undefined || sent === null || typeof sent !== 'object') throw notSentry('report of a browser');
  const violations = asList(sent)
    .slice(0, REPORTS_MAX)
    .flatMap((entry) => readViolation(asObject(entry)));
  if (violations.length === 0) throw notSentry('report of a content security policy');
  return violations.map(({ directive, blocked, page, data }) => {
    const host = hostOf(blocked);
    return Buffer.from(
      JSON.stringify({
        platform: 'javascript',
        level: 'warning',
        logger: 'csp',
        message: `Blocked '${directive}' from '${host}'`,
        culprit: directive,
        fingerprint: ['csp', directive, host],
        tags: { 'csp.directive': directive, 'csp.blocked': host },
        request: { url: page },
        extra: data,
        release,
        environment,
      }),
    );
  });
}

function readViolation(report: JsonObject | null): Violation[] {
  if (report === null) return [];
  const data = asObject(report['csp-report']) ?? (report['type'] === 'csp-violation' ? asObject(report['body']) : null);
  if (data === null) return [];
  const text = (...names: readonly string[]): string =>
    names.map((name) => asText(data[name], TEXT_LENGTH_MAX)).find((found) => found !== null) ?? '';
  const directive = text('effective-directive', 'effectiveDirective', 'violated-directive', 'violatedDirective');
  return [
    {
      directive: directive.split(' ', 1)[0] ?? 'unknown',
      blocked: text('blocked-uri', 'blockedURL'),
      page: text('document-uri', 'documentURL'),
      data,
    },
  ];
}

/** `inline`, `eval` and `data` stand for themselves. */
function hostOf(address: string): string {
  return /^[a-z][a-z0-9+.-]*:\/\/([^/?#]+)/i.exec(address)?.[1] ?? (address === '' ? 'self' : address.slice(0, 100));
}
