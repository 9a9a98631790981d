import { detailText } from '#modules/alerts/decide/route.ts';

/** Meaning of the values of a status field, compared as text without regard to case. */
interface StatusMapping {
  readonly path: string;
  readonly resolved: readonly string[];
  readonly acknowledged?: readonly string[];
  /** Values that trigger; any other value is ignored. If absent, every value but those above triggers. */
  readonly triggered?: readonly string[];
}

/**
 * Paths of the parts of an alert in any JSON: names of fields with dots between them, and numbers for places in lists. Of
 * several paths the first that holds something counts.
 */
export interface WebhookMapping {
  readonly title: readonly string[];
  readonly key: readonly string[];
  readonly status: StatusMapping | null;
  readonly severity: readonly string[];
  readonly link: readonly string[];
  readonly at: readonly string[];
}

export const [MAPPED_PATHS_MAX, MAPPED_PATH_LENGTH_MAX] = [10, 300];
export const [STATUS_VALUES_MAX, STATUS_VALUE_LENGTH_MAX] = [30, 100];

/** Whether a stored mapping can be read, whoever wrote it. */
export function isMapping(stored: unknown): stored is WebhookMapping {
  if (typeof stored !== 'object' || stored === null) return false;
  const { title, key, status, severity, link, at } = stored as Record<string, unknown>;
  const arePaths = [title, key, severity, link, at].every((paths) =>
    areTexts(paths, MAPPED_PATHS_MAX, MAPPED_PATH_LENGTH_MAX),
  );
  return arePaths && (status === null || isStatus(status));
}

function isStatus(stored: unknown): boolean {
  if (typeof stored !== 'object' || stored === null) return false;
  const { path, ...values } = stored as Record<string, unknown>;
  return (
    areTexts([path], 1, MAPPED_PATH_LENGTH_MAX) &&
    'resolved' in values &&
    Object.values(values).every((listed) => areTexts(listed, STATUS_VALUES_MAX, STATUS_VALUE_LENGTH_MAX))
  );
}

function areTexts(stored: unknown, itemsMax: number, lengthMax: number): boolean {
  return (
    Array.isArray(stored) &&
    stored.length <= itemsMax &&
    stored.every((text) => typeof text === 'string' && text.length <= lengthMax)
  );
}

export interface MappedAlert {
  /** Null for a body that says nothing of an alert. */
  readonly action: 'trigger' | 'acknowledge' | 'resolve' | null;
  readonly title: string | null;
  readonly key: string | null;
  readonly severity: string | null;
  readonly link: string | null;
  readonly at: string | null;
}

const mapping = (paths: Partial<WebhookMapping>): WebhookMapping => ({
  title: [],
  key: [],
  status: null,
  severity: [],
  link: [],
  at: [],
  ...paths,
});

const RECOVERED = 'ok up resolved resolve recovery recovered closed close normal cleared success completed'.split(' ');
const ACKNOWLEDGED = ['acknowledgement', 'acknowledged', 'acknowledge', 'ack'];

/** Mappings for bodies as tools send them, or as their guides say to configure them. */
export const WEBHOOK_TEMPLATES = {
  'uptime-kuma': mapping({
    title: ['msg', 'message', 'monitor.name', 'heartbeat.msg'],
    key: ['monitor.id', 'heartbeat.monitorID', 'monitor.name'],
    status: { path: 'heartbeat.status', resolved: ['1'], triggered: ['0'] },
    link: ['monitor.url'],
  }),
  healthchecks: mapping({
    title: ['title', 'name', 'check'],
    key: ['code', 'uuid', 'unique_key', 'name'],
    status: { path: 'status', resolved: ['up'] },
    link: ['url', 'details_url'],
  }),
  zabbix: mapping({
    title: ['Subject', 'subject', 'message', 'name'],
    key: ['Event_ID', 'event_id', 'eventid', 'X-S4-ExternalID'],
    status: {
      path: 'X-S4-Status|Trigger_Status|status',
      resolved: ['resolved', 'ok', 'recovery'],
      acknowledged: ACKNOWLEDGED,
    },
    severity: ['Severity', 'severity'],
    link: ['Link', 'url', 'Zabbix_URL'],
  }),
  icinga: mapping({
    title: ['title', 'output', 'service_output', 'host_output'],
    key: ['key', 'service_name', 'service', 'host_name', 'host'],
    status: {
      path: 'notification_type|type',
      resolved: ['recovery', 'flappingend', 'downtimeend'],
      acknowledged: ACKNOWLEDGED,
    },
    severity: ['state', 'service_state', 'host_state'],
    link: ['url', 'link'],
  }),
  checkmk: mapping({
    title: ['title', 'SERVICEOUTPUT', 'HOSTOUTPUT'],
    key: ['key', 'SERVICEPROBLEMID', 'HOSTPROBLEMID', 'SERVICEDESC', 'HOSTNAME'],
    status: { path: 'NOTIFICATIONTYPE', resolved: ['recovery'], acknowledged: ACKNOWLEDGED },
    severity: ['SERVICESTATE', 'HOSTSTATE'],
    link: ['SERVICEURL', 'HOSTURL'],
  }),
  gatus: mapping({
    title: ['title', 'description', 'endpoint', 'name'],
    key: ['key', 'endpoint', 'name'],
    status: { path: 'status|state', resolved: ['resolved'] },
    link: ['url'],
  }),
  sentry: mapping({
    title: ['data.issue.title', 'data.event.title', 'data.description_title', 'event.title', 'message', 'project_name'],
    key: ['data.issue.id', 'data.event.issue_id', 'data.metric_alert.id', 'event.issue_id', 'id'],
    status: {
      // Comments and installations are created, too, and are no alerts. The older plugin says a level and no action.
      path: 'data.comment_id|data.installation.uuid|action|level|event.level',
      resolved: ['resolved', 'archived', 'ignored'],
      triggered: 'created unresolved triggered critical warning fatal error info debug sample'.split(' '),
    },
    severity: ['data.issue.level', 'data.event.level', 'level', 'action'],
    link: ['data.issue.permalink', 'data.issue.web_url', 'data.event.web_url', 'data.web_url', 'url'],
  }),
  'better-stack': mapping({
    title: ['data.attributes.name', 'data.attributes.cause', 'name'],
    key: ['data.id', 'id'],
    status: {
      path: 'event|data.attributes.status|data.attributes.resolved_at',
      resolved: ['resolved', 'incident_resolved'],
      acknowledged: ['acknowledged', 'incident_acknowledged'],
    },
    link: ['data.attributes.url'],
    at: ['data.attributes.started_at'],
  }),
  github: mapping({
    title: ['workflow_run.display_title', 'workflow_run.name', 'check_run.name', 'deployment_status.description'],
    key: ['deployment.environment', 'workflow_run.workflow_id', 'check_run.name'],
    status: {
      // The last three say nothing: they are there for events that are none of an alert.
      path: 'deployment_status.state|workflow_run.conclusion|check_run.conclusion|action|repository.full_name|zen',
      resolved: ['success', 'neutral', 'skipped'],
      triggered: ['failure', 'timed_out', 'startup_failure', 'error'],
    },
    link: ['workflow_run.html_url', 'check_run.html_url', 'deployment_status.target_url'],
  }),
  'github-alerts': mapping({
    title: ['alert.rule.description', 'alert.security_advisory.summary', 'alert.secret_type_display_name'],
    key: ['alert.html_url', 'alert.number'],
    status: {
      path: 'action',
      resolved: ['fixed', 'dismissed', 'auto_dismissed', 'closed_by_user', 'resolved'],
      triggered: [
        'created',
        'reopened',
        'reopened_by_user',
        'auto_reopened',
        'reintroduced',
        'appeared_in_branch',
        'publicly_leaked',
      ],
    },
    link: ['alert.html_url'],
  }),
  cloudwatch: mapping({
    title: ['AlarmName'],
    key: ['AlarmArn', 'AlarmName'],
    status: { path: 'NewStateValue', resolved: ['OK'], triggered: ['ALARM'] },
    at: ['StateChangeTime'],
  }),
  any: mapping({
    title: ['title', 'summary', 'subject', 'message', 'text', 'msg', 'description', 'name'],
    key: ['dedup_key', 'dedupKey', 'alias', 'incident_key', 'key', 'id', 'name', 'title'],
    status: { path: 'status|state|action|event_action|severity', resolved: RECOVERED, acknowledged: ACKNOWLEDGED },
    severity: ['severity', 'priority', 'level'],
    link: ['url', 'link', 'html_url'],
    at: ['timestamp', 'time', 'at'],
  }),
} as const satisfies Readonly<Record<string, WebhookMapping>>;

export type WebhookTemplate = keyof typeof WEBHOOK_TEMPLATES;

export function isWebhookTemplate(name: string): name is WebhookTemplate {
  return Object.hasOwn(WEBHOOK_TEMPLATES, name);
}

/** Paths of what has the keys of a template for itself, such as a repository. */
const TEMPLATE_SCOPES: Partial<Readonly<Record<WebhookTemplate, string>>> = { github: 'repository.full_name' };

/** The mapping of a body without one of its own, and what keeps its key apart from the same one elsewhere. */
export interface TemplateOfBody {
  readonly mapping: WebhookMapping;
  readonly scope: string;
}

/** Finds the template of a name; the usual names for a body in which that one finds nothing. */
export function templateOf(name: string, body: Readonly<Record<string, unknown>>): TemplateOfBody {
  const chosen = name === 'github' && detailText(body, 'alert.number') !== null ? 'github-alerts' : name;
  if (!isWebhookTemplate(chosen) || !isOfTemplate(body, WEBHOOK_TEMPLATES[chosen])) {
    return { mapping: WEBHOOK_TEMPLATES.any, scope: '' };
  }
  const path = TEMPLATE_SCOPES[chosen];
  return { mapping: WEBHOOK_TEMPLATES[chosen], scope: path === undefined ? '' : (detailText(body, path) ?? '') };
}

/** Whether a body has a title, a key or a status where the mapping looks for them. */
function isOfTemplate(body: Readonly<Record<string, unknown>>, { title, key, status }: WebhookMapping): boolean {
  return [...title, ...key, ...(status?.path.split('|') ?? [])].some((path) => detailText(body, path) !== null);
}

/** Reads a body by a mapping. Never throws, whatever the body is. */
export function readMapped(body: Readonly<Record<string, unknown>>, map: WebhookMapping): MappedAlert {
  const at = (paths: readonly string[]): string | null => {
    for (const path of paths) {
      const text = detailText(body, path)?.trim() ?? '';
      if (text !== '') return text;
    }
    return null;
  };
  return {
    action: actionOf(map.status, at),
    title: at(map.title),
    key: at(map.key),
    severity: at(map.severity),
    link: at(map.link),
    at: at(map.at),
  };
}

function actionOf(
  status: StatusMapping | null,
  at: (paths: readonly string[]) => string | null,
): MappedAlert['action'] {
  if (status === null) return 'trigger';
  const value = at(status.path.split('|'))?.toLowerCase() ?? null;
  const isAmong = (values: readonly string[] = []): boolean =>
    values.some((candidate) => candidate.toLowerCase() === value);
  if (isAmong(status.resolved)) return 'resolve';
  if (isAmong(status.acknowledged)) return 'acknowledge';
  if (status.triggered === undefined) return 'trigger';
  return isAmong(status.triggered) ? 'trigger' : null;
}
