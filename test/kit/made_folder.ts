import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { KINDS_OF_TABLES, type Row, type TableColumn } from '#entry/transfer/check_row.ts';
import { EVENT_FILES, NOT_EXPORTED, ORGANIZATION_TABLES } from '#entry/transfer/organization_tables.ts';
import { type Kind, newId } from '#kernel/ids.ts';

/** Values of another type than a column, by the type of the column. */
export const OTHER_TYPE: Readonly<Record<string, unknown>> = {
  text: 5,
  integer: 'many',
  bigint: 'many',
  boolean: 'perhaps',
  json: 'no object',
  jsonb: 'no object',
  'timestamp with time zone': 'yesterday',
};
/** Values of the right type that no operation would write. */
export const OUT_OF_RANGE: Readonly<Record<string, unknown>> = {
  text: 'x'.repeat(300_000),
  integer: 1e12,
  bigint: 1e300,
  boolean: null,
  json: { windowMinutes: 1e12, steps: 'none', timezone: 'Mars/X', userIds: 7 },
  jsonb: { windowMinutes: 1e12, steps: 'none', timezone: 'Mars/X', userIds: 7 },
  'timestamp with time zone': '+012345-01-01T00:00:00Z',
};

export type Columns = ReadonlyMap<string, readonly TableColumn[]>;
/** The row of each table, by the table. */
export type Rows = Readonly<Record<string, Row>>;

const AT = '2026-11-20T10:00:00+00:00';
const LATER = '2026-11-21T10:00:00+00:00';
const ACTOR = { userId: 'user_01m8h3yr8bf6etcfad6q45mzjj', via: 'console' };
const SCHEDULE = { type: 'crontab', crontab: '*/5 * * * *', timezone: 'UTC' };
const MONITOR_CONFIG = {
  schedule: SCHEDULE,
  marginMinutes: 1,
  runtimeMinutes: 30,
  failureThreshold: 1,
  recoveryThreshold: 1,
};

/** Values of columns whose type does not tell them. */
const VALUES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  organizations: {
    name: 'Made',
    trace_link: 'https://traces.example.com/{traceId}',
    managed_changes: 'refused',
    provisioned_role: 'editor',
  },
  users: { email: 'made@example.com', name: 'Mira' },
  memberships: { role: 'owner', phone: '+31612345678' },
  team_members: { phone: '+31612345678' },
  holiday_calendars: { url: 'https://example.com/holidays.ics', dates: ['2027-12-25'] },
  schedules: { timezone: 'Europe/Amsterdam', rotation_type: 'weekly', start_wall: null, layers: null },
  schedule_overrides: { end_at: LATER, layer_id: null },
  services: { retention_metrics: 30, retention_exceptions: 90, retention_oncall: 400, deleted_at: null },
  service_capabilities: { capability: 'metrics', billed_until: '2027-01-01T00:00:00+00:00' },
  billing_periods: { capability: 'metrics', currency: 'EUR', ends_at: LATER },
  alert_rules: {
    kind: 'metric_threshold',
    config: { metricName: 'cpu', comparator: '>', threshold: 5, windowMinutes: 5, aggregation: 'avg' },
    settings: { forMinutes: 5 },
  },
  maintenance_windows: {
    service_id: null,
    rule_id: null,
    label_name: 'zone',
    label_value: 'a',
    ends_at: LATER,
    recurrence: { weekdays: [1], startTime: '02:00', minutes: 60 },
    timezone: 'UTC',
  },
  exception_settings: {
    filters: ['bots'],
    patterns: ['a*'],
    secret_names: ['iban'],
    assignment_rules: [],
    issue_link: 'https://example.com/new?title={title}',
  },
  monitors: {
    slug: 'nightly',
    schedule: SCHEDULE,
    edited_config: { ...MONITOR_CONFIG, at: '2026-11-20T10:00:00.000Z' },
    sent_config: MONITOR_CONFIG,
  },
  monitor_runs: { status: 'ok' },
  releases: { url: 'https://example.com', commits: [{ id: 'a', author: null, message: null, at: null }] },
  deploys: { url: 'https://example.com' },
  dashboards: { layout: [{ type: 'text', title: 'Read me' }] },
  exception_groups: {
    level: 'error',
    status: 'unresolved',
    grouping_parts: [{ strategy: 'message', because: 'the message', lines: ['x'] }],
    merged_into_id: null,
    merged_at: null,
    assigned_user_id: null,
    assigned_team_id: null,
    issue_url: 'https://example.com/1',
  },
  group_activity: { actor: ACTOR, facts: { kind: 'comment' } },
  saved_searches: { search: { q: 'user:42' } },
  group_fixes: { kind: 'release', known_releases: ['v1'] },
  message_templates: { tokens: ['x'] },
  incidents: {
    kind: 'metric_threshold',
    status: 'triggered',
    details: {},
    acknowledged_by: ACTOR,
    resolved_by: ACTOR,
    parent_id: null,
    dedup_key: 'rule_01m8h3yr8bf6etcfad6q45mzjj',
  },
  alert_sources: { protocol: 'events', settings: {} },
  alert_routes: { conditions: [], outcome: 'page' },
  alerts: { status: 'triggered', severity: 'error', details: {}, links: [], images: [], history: [] },
  incident_steps: { state: 'pending' },
  incident_timeline: { event: 'triggered', data: {} },
  incident_members: { kind: 'exception', dedup_key: 'rule_01m8h3yr8bf6etcfad6q45mzjj' },
  status_publications: { impact: 'degraded', service_ids: [] },
  status_updates: { stage: 'investigating' },
  proposals: {
    kind: 'action',
    action: 'add_incident_note',
    input: {},
    evidence: [],
    status: 'proposed',
    decided_by: ACTOR,
  },
  event_feedback: { id: '8a1e1f9e-9c39-4bd4-8a43-5d1f0bb6a6c1' },
  notifications: { kind: 'page', channel: 'sms', status: 'queued', news: null, digest_id: null, proposal_id: null },
  agent_settings: { writes_an_hour: 10, hold_minutes: 1 },
  audit_log: { actor: { kind: 'system' }, via: 'system', before: {}, after: {}, result: 'done' },
};

const OF_TYPE: Readonly<Record<string, unknown>> = {
  text: 'made',
  integer: 1,
  bigint: 1,
  boolean: true,
  'timestamp with time zone': AT,
};

/** An organization with one row in every table, as an export would write it. */
export function madeRows(columns: Columns): Rows {
  const ids = new Map<Kind, string>();
  const idOf = (kind: Kind): string => ids.get(kind) ?? ids.set(kind, newId(kind)).get(kind) ?? '';
  const kinds: Readonly<Record<string, Kind>> = {
    org_id: 'org',
    user_id: 'user',
    team_id: 'team',
    schedule_id: 'schedule',
    escalation_policy_id: 'policy',
    policy_id: 'policy',
    source_id: 'alertsource',
    service_id: 'service',
    rule_id: 'rule',
    monitor_id: 'monitor',
    group_id: 'group',
    exception_group_id: 'group',
    incident_id: 'incident',
    page_id: 'statuspage',
    publication_id: 'publication',
  };
  const step = { afterMinutes: 0, channels: ['sms'], targetUserIds: [idOf('user')], useSchedule: false };
  const values: typeof VALUES = {
    ...VALUES,
    schedules: { ...VALUES['schedules'], rotation_config: { userIds: [idOf('user')] } },
    escalation_policies: { steps: [step] },
    incidents: { ...VALUES['incidents'], steps: [step] },
  };
  return Object.fromEntries(
    ORGANIZATION_TABLES.map(({ table }) => {
      const row = (columns.get(table) ?? []).map(({ name, type }) => {
        const kind = name === 'id' ? KINDS_OF_TABLES[table] : kinds[name];
        const value = values[table]?.[name];
        return [name, value !== undefined ? value : kind === undefined ? OF_TYPE[type] : idOf(kind)];
      });
      return [table, Object.fromEntries(row)];
    }),
  );
}

/** Writes them with points and events of their service: none but the heads of the files. */
export function writeFolder(folder: string, rows: Rows, migrations: readonly string[]): void {
  mkdirSync(folder, { recursive: true });
  const files: Record<string, number> = {};
  for (const [table, row] of Object.entries(rows)) {
    files[`${table}.jsonl`] = 1;
    writeFileSync(path.join(folder, `${table}.jsonl`), `${JSON.stringify(row)}\n`);
  }
  for (const { file, columns } of Object.values(EVENT_FILES)) {
    const head = file.endsWith('.csv') ? `${columns.replaceAll(' ', '')}\n` : '';
    files[file] = head === '' ? 0 : 1;
    writeFileSync(path.join(folder, file), head);
  }
  const manifest = {
    tocsinExport: 1,
    version: 'made',
    exportedAt: AT,
    organizationId: rows['organizations']?.['id'],
    organizationName: 'Made',
    postgresMigrations: migrations,
    files,
    leftOut: NOT_EXPORTED,
  };
  writeFileSync(path.join(folder, 'organization.json'), JSON.stringify(manifest));
}
