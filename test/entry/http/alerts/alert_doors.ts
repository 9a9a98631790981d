import type { SendOptions } from '#test/kit/alert_senders.ts';

/** A request of a tool: address below `/api/alerts`, body and headers. */
interface DoorRequest {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly options: SendOptions;
}

interface Said {
  readonly title: string;
  readonly alias: string;
  readonly link: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/** One protocol of other tools, as a client of it sends. */
export interface AlertDoor {
  readonly name: string;
  /** Status that its clients try again. */
  readonly retried: number;
  /** Status for a key that nobody has. */
  readonly unknownKey: number;
  /** Status for alerts beyond the rate. */
  readonly tooFast: number;
  trigger(key: string, said: Said): DoorRequest;
  /** Null where the protocol ends nothing. */
  readonly resolve: ((key: string, said: Said) => DoorRequest) | null;
}

const NONE = { authorization: null };
const bearer = (key: string): SendOptions => ({ authorization: `Bearer ${key}` });
const genie = (key: string): SendOptions => ({ authorization: `GenieKey ${key}` });

const webhook = (status: string, { title, alias, link, details }: Said) => ({
  version: '4',
  groupKey: alias,
  status,
  externalURL: link,
  alerts: [
    { status, labels: { alertname: alias, severity: 'critical', ...details }, annotations: { summary: title } },
  ].map((alert) => ({ ...alert, generatorURL: link, fingerprint: alias })),
});

const grafanaOrAlertmanager = (name: 'alertmanager' | 'grafana'): AlertDoor => ({
  name,
  retried: 503,
  unknownKey: 401,
  tooFast: 503,
  trigger: (key, said) => ({ path: `/${name}`, body: webhook('firing', said), options: bearer(key) }),
  resolve: (key, said) => ({ path: `/${name}/${key}`, body: webhook('resolved', said), options: NONE }),
});

const pagerDuty = (key: string, action: string, { title, alias, link, details }: Said): DoorRequest => ({
  path: '/pagerduty/v2/enqueue',
  body: {
    routing_key: key,
    dedup_key: alias,
    event_action: action,
    links: [{ href: link, text: 'Link' }],
    payload: { summary: title, source: 'web-1', severity: 'critical', custom_details: details },
  },
  options: NONE,
});

const firstPagerDuty = (key: string, type: string, { title, alias, link, details }: Said): DoorRequest => ({
  path: '/pagerduty/generic/2010-04-15/create_event.json',
  body: { service_key: key, incident_key: alias, event_type: type, description: title, client_url: link, details },
  options: NONE,
});

const victorOps = (key: string, type: string, { title, alias, link, details }: Said): DoorRequest => ({
  path: `/victorops/${key}/team`,
  body: { message_type: type, entity_id: alias, entity_display_name: title, alert_url: link, details },
  options: NONE,
});

const own = (key: string, action: string, { title, alias, link, details }: Said): DoorRequest => ({
  path: '/events',
  body: { action, dedupKey: alias, title, links: [{ href: link, text: 'Link' }], details },
  options: bearer(key),
});

const anyJson = (key: string, status: string, { title, alias, link, details }: Said): DoorRequest => ({
  path: `/webhook/${key}/shop`,
  body: { key: alias, status, title, url: link, details },
  options: NONE,
});

/** All protocols but that of Prometheus, whose body is a list, and SNS, whose messages are signed. */
export const ALERT_DOORS: readonly AlertDoor[] = [
  {
    name: 'PagerDuty v2',
    retried: 429,
    unknownKey: 400,
    tooFast: 429,
    trigger: (key, said) => pagerDuty(key, 'trigger', said),
    resolve: (key, said) => pagerDuty(key, 'resolve', said),
  },
  {
    name: 'PagerDuty change events',
    retried: 429,
    unknownKey: 400,
    tooFast: 429,
    trigger: (key, said) => ({ ...pagerDuty(key, 'trigger', said), path: '/pagerduty/v2/change/enqueue' }),
    resolve: null,
  },
  {
    name: 'PagerDuty v1',
    retried: 503,
    unknownKey: 400,
    tooFast: 403,
    trigger: (key, said) => firstPagerDuty(key, 'trigger', said),
    resolve: (key, said) => firstPagerDuty(key, 'resolve', said),
  },
  {
    name: 'Opsgenie',
    retried: 503,
    unknownKey: 401,
    tooFast: 429,
    trigger: (key, { title, alias, link, details }) => ({
      path: '/opsgenie/v2/alerts',
      body: { message: title, alias, details: { ...details, link }, priority: 'P1' },
      options: genie(key),
    }),
    resolve: (key, { alias }) => ({
      path: `/opsgenie/v2/alerts/${encodeURIComponent(alias)}/close?identifierType=alias`,
      body: {},
      options: genie(key),
    }),
  },
  grafanaOrAlertmanager('alertmanager'),
  grafanaOrAlertmanager('grafana'),
  {
    name: 'VictorOps',
    retried: 503,
    unknownKey: 401,
    tooFast: 503,
    trigger: (key, said) => victorOps(key, 'CRITICAL', said),
    resolve: (key, said) => victorOps(key, 'RECOVERY', said),
  },
  {
    name: 'own JSON',
    retried: 503,
    unknownKey: 401,
    tooFast: 429,
    trigger: (key, said) => own(key, 'trigger', said),
    resolve: (key, said) => own(key, 'resolve', said),
  },
  {
    name: 'any JSON',
    retried: 503,
    unknownKey: 401,
    tooFast: 429,
    trigger: (key, said) => anyJson(key, 'down', said),
    resolve: (key, said) => anyJson(key, 'up', said),
  },
];
