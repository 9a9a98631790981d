import type { AlertFilter, AlertListWanted } from '#modules/alerts/decide/alert_filter.ts';
import type { WebhookMapping } from '#modules/alerts/decide/mapping.ts';
import type { AlertOutcome, AlertOwner, AlertSourceName, SentAlert } from '#modules/alerts/decide/sent_alert.ts';
import type { AppError } from '#kernel/errors.ts';
import type { Temporal } from '#kernel/time.ts';

export interface AlertRequest {
  readonly method: string;
  /** Public address, without its query. */
  readonly address: string;
  /** Parts of the path that the pattern names, decoded. */
  readonly path: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** The same with its body, parsed where the protocol says so. */
export interface AlertRequestWithBody extends AlertRequest {
  readonly body: unknown;
  /** Place of the first alert of a large body that is read in parts, and the number of all; absent for a whole body. */
  readonly part?: { readonly first: number; readonly of: number };
  readonly now: Temporal.Instant;
}

/** Answer; the body is always JSON. */
export interface AlertAnswer {
  readonly status: number;
  readonly body: unknown;
}

/** Content of a request. */
export type AlertReading =
  /** Events to be taken, and what is answered when they are. */
  | {
      readonly kind: 'alerts';
      readonly sent: readonly SentAlert[];
      readonly answer: (outcomes: readonly AlertOutcome[]) => AlertAnswer;
    }
  /** A deploy that a tool tells of. */
  | { readonly kind: 'deploy'; readonly deploy: SentDeploy; readonly answer: () => AlertAnswer }
  /** Something about an alert by its id, whose name has to be found first; null when there is none. */
  | {
      readonly kind: 'addressed';
      readonly id: string;
      readonly toReading: (alert: { readonly key: string; readonly scope: string } | null) => AlertReading;
    }
  /** A body that is read as people have said of its source; null where nobody has. */
  | {
      readonly kind: 'mapped';
      readonly name: string;
      readonly toReading: (mapping: WebhookMapping | null) => AlertReading;
    }
  /** A body that is signed: it is read with the certificate that it names. */
  | {
      readonly kind: 'certified';
      readonly source: AlertSourceName;
      readonly certificateUrl: string;
      /** Throws `forbidden` for a signature that is not by this certificate. */
      readonly toReading: (certificate: string) => AlertReading;
    }
  /** An address outside that the tool asks to be opened. */
  | { readonly kind: 'visit'; readonly url: string; readonly answer: () => AlertAnswer }
  /** A sign of life of something. */
  | { readonly kind: 'heartbeat'; readonly name: string; readonly answer: () => AlertAnswer }
  /** Something that is looked up of what was sent before. */
  | { readonly kind: 'lookup'; readonly lookup: AlertLookup }
  /** Answer without any effect. */
  | { readonly kind: 'answer'; readonly answer: AlertAnswer };

export interface SentDeploy {
  readonly name: string;
  readonly url: string | null;
  readonly at: Temporal.Instant | null;
}

export interface FoundAlert {
  readonly id: string;
  readonly key: string;
  readonly title: string;
  readonly status: 'triggered' | 'acknowledged' | 'resolved';
  readonly severity: string;
  readonly details: Readonly<Record<string, unknown>>;
  readonly tool: string;
  readonly occurrences: number;
  readonly firstSeenAt: Temporal.Instant;
  readonly lastSeenAt: Temporal.Instant;
}

export type AlertLookup =
  | {
      readonly kind: 'alert';
      readonly by: { readonly id: string } | { readonly key: string };
      readonly answer: (alert: FoundAlert | null) => AlertAnswer;
    }
  | { readonly kind: 'count'; readonly filter: AlertFilter | null; readonly answer: (count: number) => AlertAnswer }
  | {
      readonly kind: 'list';
      readonly wanted: AlertListWanted;
      /** Answers with a page of the alerts, and how many there are in all. */
      readonly answer: (alerts: readonly FoundAlert[], count: number) => AlertAnswer;
    };

export interface AlertEndpoint {
  readonly protocol: AlertSourceName['protocol'];
  readonly methods: readonly string[];
  /** Below `/api/alerts`: words, and names of parts after a colon; a part named with `*` may hold slashes. */
  readonly pattern: string;
  /** The key in the address or the headers; undefined where it stands in the body. */
  readonly keyOf?: (request: AlertRequest) => string | null;
  /** The property of the body that holds the key. */
  readonly keyField?: string;
  /** Form in which the body is read: JSON by default, JSON that may be absent, as it is (a Buffer), or not at all. */
  readonly reads?: 'json' | 'json_or_none' | 'bytes' | 'none';
  /**
   * The property of the body that holds a list of alerts, null where the body is the list, and how the answers to parts of
   * a large one become one; absent where a body is about one alert.
   */
  readonly list?: { readonly at: string | null; readonly join: (answers: readonly AlertAnswer[]) => AlertAnswer };
  /** Throws `invalid_input` for what it cannot read. */
  readonly read: (request: AlertRequestWithBody, owner: AlertOwner) => AlertReading | Promise<AlertReading>;
  /** The refusal in the words of the protocol; absent for a problem of RFC 9457. */
  readonly refuse?: (error: AppError) => AlertAnswer;
}
