import { asList, asObject, asText, type JsonObject, parseJson } from '#ingest/protocols/sentry/json.ts';
import { notSentry } from '#ingest/protocols/sentry/envelope.ts';
import { AppError } from '#kernel/errors.ts';

/** Limit on the reports of a request; browsers send up to a few dozen at once. */
const REPORTS_MAX = 10;
/**
 * Limit on all reports of a request, which are read in one go. A browser sends up to a minute's reports at once, each with the
 * whole policy, which may have some kilobytes.
 */
const REPORTS_BYTES_MAX = 256 * 1024;
const TEXT_LENGTH_MAX = 2_000;

interface Violation {
  readonly directive: string;
  readonly blocked: string;
  readonly page: string;
  readonly data: JsonObject;
}

interface SecurityReports {
  /** Violations of a content security policy, as events. */
  readonly events: readonly Buffer[];
  /** Number of reports of another kind, such as deprecations and crashes, or beyond the first ten. */
  readonly others: number;
}

/**
 * Reads a browser's reports. Violations of a content security policy become events, with or without the wrapper
 * `csp-report`, and as the Reporting API sends them: one directive that blocks one host is one group. Throws for what is no
 * JSON object and no list; a browser can do nothing about a report of another kind, so that is only counted.
 */
export function securityEvents(body: Buffer, release: string | null, environment: string | null): SecurityReports {
  if (body.length > REPORTS_BYTES_MAX) {
    throw new AppError('payload_too_large', `reports of a browser have at most ${REPORTS_BYTES_MAX} bytes a request`);
  }
  const sent = parseJson(body);
  if (sent === undefined || sent === null || typeof sent !== 'object') throw notSentry('report of a browser');
  const reports = asList(sent).map(asObject);
  const violations = reports.slice(0, REPORTS_MAX).flatMap((report) => readViolation(report));
  const events = violations.map(({ directive, blocked, page, data }) => {
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
  return { events, others: reports.length - events.length };
}

function readViolation(report: JsonObject | null): Violation[] {
  if (report === null) return [];
  const data = violationOf(report);
  if (data === null) return [];
  const text = (...names: readonly string[]): string =>
    names.map((name) => asText(data[name], TEXT_LENGTH_MAX)).find((text) => text !== null) ?? '';
  const directive = text('effective-directive', 'effectiveDirective', 'violated-directive', 'violatedDirective');
  return [
    {
      directive: directive.split(' ', 1)[0] ?? 'unknown',
      blocked: text('blocked-uri', 'blockedURL', 'blockedURI'),
      page: text('document-uri', 'documentURL', 'documentURI'),
      data,
    },
  ];
}

/** Returns the violation; null for a report of another kind. */
function violationOf(report: JsonObject): JsonObject | null {
  const wrapped = asObject(report['csp-report']);
  if (wrapped !== null) return wrapped;
  const type = report['type'];
  if (type !== undefined) return type === 'csp-violation' ? asObject(report['body']) : null;
  const names = ['effective-directive', 'effectiveDirective', 'violated-directive', 'violatedDirective'];
  return names.some((name) => typeof report[name] === 'string') ? report : null;
}

/**
 * Returns the host of an address, and of `blob:` and `data:`, which bear ids and content, the scheme. `inline` and `eval`
 * stand for themselves.
 */
function hostOf(address: string): string {
  const host = /^[a-z][a-z0-9+.-]*:\/\/(?:[^/?#@]*@)?([^/?#]+)/i.exec(address)?.[1];
  return host ?? /^([a-z]+):/i.exec(address)?.[1] ?? (address === '' ? 'self' : address.slice(0, 100));
}
