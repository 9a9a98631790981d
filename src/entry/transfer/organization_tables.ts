import type { Tables } from '#storage/postgres/tables.ts';

/** Table whose rows of one organization are exported, each as JSON. */
export interface OrganizationTable {
  readonly table: keyof Tables;
  /** Condition that selects the rows; `$1` is the organization. */
  readonly where: string;
  readonly orderBy: string;
  /** Columns that are not exported, such as secrets; numbers that a database assigns itself never are. */
  readonly without?: readonly string[];
  /** Columns that refer to objects of the organization which must be in the export. */
  readonly refersTo?: readonly string[];
}

const OWN = 'org_id = $1';
const OF_SERVICES = 'service_id in (select id from services where org_id = $1)';
const OF_INCIDENTS = 'incident_id in (select id from incidents where org_id = $1)';

const ownedTable = (table: keyof Tables, refersTo: readonly string[] = [], orderBy = 'id'): OrganizationTable => {
  return { table, where: OWN, orderBy, refersTo };
};

/** Tables in the order of their import: what is referred to comes first. */
export const ORGANIZATION_TABLES: readonly OrganizationTable[] = [
  {
    table: 'organizations',
    where: 'id = $1',
    orderBy: 'id',
    // The networks of another installation would shut its owners out.
    without: ['key_networks', 'session_networks'],
  },
  {
    table: 'users',
    where: 'id in (select user_id from memberships where org_id = $1)',
    orderBy: 'id',
    // Only this installation knows whether the address was proven.
    without: ['password_hash', 'address_proven_at'],
  },
  ownedTable('memberships', ['user_id'], 'user_id'),
  ownedTable('teams'),
  ownedTable('team_members', ['team_id', 'user_id']),
  ownedTable('holiday_calendars'),
  ownedTable('schedules', ['team_id']),
  ownedTable('schedule_overrides', ['schedule_id', 'user_id']),
  ownedTable('escalation_policies', ['team_id']),
  // Senders get a new DSN, with the number of this installation.
  { ...ownedTable('services', ['team_id']), without: ['kept_project_number'] },
  { table: 'service_capabilities', where: OF_SERVICES, orderBy: 'service_id, capability', refersTo: ['service_id'] },
  ownedTable('billing_periods'),
  ownedTable('alert_rules', ['service_id', 'escalation_policy_id']),
  ownedTable('maintenance_windows', ['service_id', 'rule_id']),
  {
    table: 'exception_settings',
    where: OF_SERVICES,
    orderBy: 'service_id',
    refersTo: ['service_id'],
    // Trackers stay behind, with their tokens.
    without: ['tracker_id', 'tracker_project'],
  },
  ownedTable('monitors', ['service_id']),
  {
    table: 'monitor_runs',
    where: 'monitor_id in (select id from monitors where org_id = $1)',
    orderBy: 'monitor_id, run_id',
    refersTo: ['monitor_id'],
  },
  ownedTable('releases', ['service_id'], 'service_id, version'),
  ownedTable('deploys', ['service_id']),
  {
    table: 'release_sessions',
    where: OF_SERVICES,
    orderBy: 'service_id, release, environment, hour',
    refersTo: ['service_id'],
  },
  ownedTable('dashboards', ['service_id']),
  {
    ...ownedTable(
      'exception_groups',
      ['service_id', 'merged_into_id', 'assigned_user_id', 'assigned_team_id'],
      'merged_into_id nulls first, id',
    ),
  },
  {
    table: 'exception_group_keys',
    where: OF_SERVICES,
    orderBy: 'service_id, key',
    refersTo: ['service_id', 'group_id'],
  },
  {
    table: 'group_fixes',
    where: 'group_id in (select id from exception_groups where org_id = $1)',
    orderBy: 'group_id, decided_at',
    refersTo: ['group_id'],
  },
  {
    table: 'group_snoozes',
    where: 'group_id in (select id from exception_groups where org_id = $1)',
    orderBy: 'group_id, decided_at',
    refersTo: ['group_id'],
  },
  ownedTable('group_activity', ['group_id'], 'at, id'),
  {
    table: 'group_watchers',
    where: 'group_id in (select id from exception_groups where org_id = $1)',
    orderBy: 'group_id, user_id',
    refersTo: ['group_id', 'user_id'],
  },
  ownedTable('saved_searches', ['user_id'], 'created_at, id'),
  {
    table: 'group_regressions',
    where: OF_SERVICES,
    orderBy: 'group_id, release',
    refersTo: ['service_id', 'group_id'],
  },
  { table: 'message_templates', where: OF_SERVICES, orderBy: 'number', refersTo: ['service_id'] },
  ownedTable(
    'incidents',
    ['service_id', 'rule_id', 'exception_group_id', 'escalation_policy_id', 'team_id', 'parent_id'],
    'parent_id nulls first, id',
  ),
  ownedTable('alert_sources', ['service_id'], 'service_id, protocol, name'),
  ownedTable('alert_routes', ['service_id', 'policy_id'], 'service_id, position'),
  ownedTable('alerts', ['service_id', 'source_id', 'incident_id'], 'id'),
  { table: 'incident_steps', where: OF_INCIDENTS, orderBy: 'incident_id, step_index', refersTo: ['incident_id'] },
  { table: 'incident_timeline', where: OF_INCIDENTS, orderBy: 'id', refersTo: ['incident_id'] },
  {
    table: 'incident_members',
    where: OF_INCIDENTS,
    orderBy: 'incident_id, dedup_key',
    refersTo: ['incident_id', 'rule_id', 'exception_group_id'],
  },
  { table: 'incident_notes', where: OF_INCIDENTS, orderBy: 'id', refersTo: ['incident_id'] },
  // Another organization of the installation may have the address, so it gets a new one.
  { ...ownedTable('status_pages'), without: ['slug'] },
  ownedTable('status_components', ['page_id', 'service_id'], 'page_id, position'),
  ownedTable('status_publications', ['page_id', 'incident_id']),
  ownedTable('status_updates', ['publication_id']),
  ownedTable('proposals', ['incident_id'], 'number'),
  { table: 'event_feedback', where: OF_SERVICES, orderBy: 'id', refersTo: ['service_id'] },
  ownedTable('agent_settings', [], 'org_id'),
  // A digest comes before the messages in it.
  ownedTable('notifications', ['incident_id', 'digest_id', 'proposal_id'], "kind <> 'digest', id"),
  ownedTable('audit_log', [], 'at, id'),
];

/** Tables that are never exported, and why. */
export const NOT_EXPORTED: Readonly<Record<string, string>> = {
  api_keys: 'a secret: create new ones',
  scim_users: 'of the identity provider: it says them again once it has a new token',
  scim_groups: 'of the identity provider: it says them again once it has a new token',
  scim_group_members: 'of the identity provider: it says them again once it has a new token',
  unreadable_rows: 'found again where it is imported',
  managed_resources: 'of configuration files: applied again, they find everything by its name',
  workers: 'of this installation: which processes are alive',
  token_buckets: 'of this installation: what was used lately',
  ingest_keys: 'a secret: the import makes new ones',
  alert_keys: 'a secret: make new ones and put them into the tools',
  alert_bodies: 'encrypted under APP_SECRET',
  places: 'secrets: add them again, with what the vendor issued',
  issue_trackers: 'secrets: add them again, with a token',
  group_issues: 'of issue trackers, which stay behind; the addresses of issues are in their groups',
  status_subscribers: 'addresses of readers, who subscribe again where the page is',
  place_messages: 'of places, which stay behind',
  place_deliveries: 'of places, which stay behind',
  place_cursor: 'of this installation: what places have been given',
  chat_accounts: 'people link their accounts again',
  connections: 'a secret: apps connect again',
  responders: 'of connections and keys, which stay behind',
  agent_writes: 'of the last hour',
  incident_leases: 'of the last minutes',
  oauth_records: 'a secret',
  sessions: 'a secret: people sign in again',
  invitations: 'a secret: invite again',
  password_resets: 'a secret',
  passkeys: 'a secret: people set up second factors again',
  authenticator_apps: 'a secret',
  recovery_codes: 'a secret',
  pending_sign_ins: 'a secret',
  passkey_challenges: 'a secret',
  openid_connections: 'a secret: connect the provider again, with the address of this installation',
  openid_domains: 'of the installation: prove them again',
  openid_accounts: 'of the connection to the provider',
  sign_in_limits: 'of the installation',
  calendar_feeds: 'a secret: create new addresses',
  own_calendars: 'a secret: create new addresses',
  session_outcomes: 'of the last days',
  group_decisions: 'kept to undo a decision soon after it',
  push_subscriptions: 'of the installation: browsers subscribe again',
  confirmed_numbers: 'of the installation: people confirm their numbers again',
  phone_codes: 'a secret',
  reply_pins: 'a secret',
  inbound_messages: 'of the provider account',
  ended_calls: 'of the provider account',
  sms_opt_outs: 'of the provider account',
  reply_numbers: 'of phones, which may be paged by others too',
  exception_group_counts: 'counted again',
  upload_chunks: 'parts of uploads that are not complete',
  artifact_bundles: 'uploaded again by the next build',
  source_maps: 'uploaded again by the next build',
  source_map_places: 'uploaded again by the next build',
  quarantined_events: 'encrypted under APP_SECRET',
  event_attachments: 'encrypted under APP_SECRET',
  sent_items: 'of the last hours',
  exception_hours: 'of the last hour',
  check_ins: 'of the last seconds',
  monitor_watch: 'of this installation: since when runs are watched',
  rule_memory: 'of the last minutes: rules find it anew',
  rule_part_memory: 'of the last minutes: rules find it anew',
  ingest_refusals: 'of the last hours',
  series_days: 'of the last day',
  late_points: 'of the last minutes',
  metric_types: 'senders say them again within minutes',
  audit_streams: 'a secret: add them again where the log is now',
  move_ins: 'a move that is under way: begin it where the organization is now',
  move_in_items: 'a move that is under way',
  move_in_answers: 'a move that is under way',
  number_campaigns: 'begin it again where the organization is now',
  number_asks: 'begin it again where the organization is now',
  audit_heads: 'linked anew',
  audit_links: 'linked anew',
  outbox: 'work of the installation',
  leases: 'work of the installation',
  durable_jobs: 'work of the installation: export when nothing waits',
  spooled_data: 'work of the installation',
  migrated_by: 'of the installation',
  installation: 'of the installation',
  restorations: 'of the installation',
};

/** Files of the rows in ClickHouse, which are selected by service. */
export const EVENT_FILES = {
  metric_series: { file: 'metric_series.jsonl', columns: 'service_id, metric, series, last_at, tags' },
  metric_points: { file: 'metric_points.csv', columns: 'service_id, metric, series, ts, value, kind' },
  metric_exemplars: {
    file: 'metric_exemplars.jsonl',
    columns: 'service_id, metric, at, trace_id, span_id, value, tags',
  },
  exception_events: {
    file: 'exception_events.jsonl',
    columns:
      'service_id, group_id, event_id, at, received_at, level, environment, release, user_key, handled, tags, payload',
  },
} as const;

export type EventTable = keyof typeof EVENT_FILES;

export const MANIFEST_FILE = 'organization.json';
export const EXPORT_FORMAT = 1;

/** Content of `organization.json`. */
export interface ExportManifest {
  readonly tocsinExport: number;
  readonly version: string;
  readonly exportedAt: string;
  readonly organizationId: string;
  readonly organizationName: string;
  readonly postgresMigrations: readonly string[];
  readonly files: Readonly<Record<string, number>>;
  /** Tables that are not exported, with the reason. */
  readonly leftOut: Readonly<Record<string, string>>;
}
