import { MANAGED_CHANGES } from '#modules/configuration/decide/managed_changes.ts';
import { PROVISIONED_ROLES } from '#modules/provisioning/decide/provisioned_role.ts';
import { EmailField } from '#modules/accounts/view.ts';
import { Layout } from '#modules/dashboards/operations/view.ts';
import { SETTINGS_FIELDS } from '#modules/exceptions/operations/set_exception_settings.ts';
import { FreeText, Name, SafeInteger } from '#actions/fields.ts';
import { POLICY_DETAILS } from '#modules/policies/view.ts';
import { DetailedStepInput, StepInput } from '#modules/policies/operations/create_escalation_policy.ts';
import { RecurrenceView } from '#modules/maintenance/operations/maintenance.ts';
import { RotationConfigInput } from '#modules/schedules/operations/layer_fields.ts';
import { Phone } from '#modules/teams/view.ts';
import { VIAS } from '#modules/accounts/decide/caller.ts';
import { CAPABILITIES, RETENTION_DAYS_MAX } from '#modules/capabilities/decide/capability.ts';
import { FIX_KINDS } from '#modules/exceptions/decide/fix.ts';
import { GROUP_STATUSES } from '#modules/exceptions/decide/group_status.ts';
import { LEVELS } from '#modules/exceptions/decide/level.ts';
import { LINKS_MAX } from '#modules/alerts/decide/alert_links.ts';
import { ROUTE_CONDITIONS_MAX, ROUTE_OUTCOMES } from '#modules/alerts/decide/route.ts';
import { INCIDENT_STATUSES, NEWS_EVENTS } from '#modules/incidents/decide/incident.ts';
import { CAUSE_KINDS, INCIDENT_KINDS } from '#modules/incidents/decide/incident_limit.ts';
import { RULE_KIND_NAMES } from '#modules/rules/decide/rule_kinds.ts';
import { RUN_STATUSES } from '#modules/monitors/decide/check_in.ts';
import { MINUTES_MAX, THRESHOLD_MAX } from '#modules/monitors/decide/schedule_limits.ts';
import { CHANNELS } from '#modules/contacts/decide/channel.ts';
import { POLICY_STEPS_MAX, REPEAT_TIMES_MAX } from '#modules/policies/decide/policy_details.ts';
import { ROTATION_TYPES } from '#modules/schedules/decide/rotation.ts';
import { PERSON_COLORS } from '#modules/schedules/decide/person_color.ts';
import { HOLIDAYS_MAX } from '#modules/schedules/decide/ics_dates.ts';
import { COMPONENTS_MAX, IMPACTS, STAGES } from '#modules/status_pages/decide/publication.ts';
import { STORED_LAYERS } from '#modules/schedules/decide/stored_layers.ts';
import { closedObject, objectWith, orNull } from '#kernel/input_faults.ts';
import { ROLES } from '#kernel/permissions.ts';

/** JSON schemas of columns, where their type does not say enough. */
type Contracts = Readonly<Record<string, Readonly<Record<string, object>>>>;

/** Limit on the length of a text, unless its column has a smaller one: more than anything the product stores. */
const TEXT_LENGTH_MAX = 200_000;
/** Limit on the numbers that people type in a reply. */
const NUMBER_MAX = 1_000_000_000;
/** Most steps in a snapshot of a policy, including those of reassignments. */
const SNAPSHOT_STEPS_MAX = 2_000;

const TIMESTAMP = String.raw`^2\d{3}-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-5]\d\.\d{3}Z$`;

const oneOf = (...values: readonly string[]): object => ({ enum: values });
const list = (items: object, maxItems = 10_000): object => ({ type: 'array', items, maxItems });
const whole = (minimum: number, maximum: number): object => ({ type: 'integer', minimum, maximum });
const text = (maxLength: number): object => ({ type: 'string', maxLength });
const RECORD = { type: 'object' };
const AT = { type: 'string', pattern: TIMESTAMP, description: 'a timestamp' };
const TEXTS = list(text(TEXT_LENGTH_MAX));
const TEXT_OR_NULL = orNull(text(TEXT_LENGTH_MAX));
const DAYS = whole(1, RETENTION_DAYS_MAX);
const WEB_ADDRESS = { type: 'string', maxLength: 4_000, pattern: '^https?://', description: 'an address of the web' };
const RULE_KIND = oneOf(...RULE_KIND_NAMES);
const CAPABILITY = oneOf(...CAPABILITIES);
const HISTORY_MAX = 100;
const ALERT_LINK = objectWith({ href: WEB_ADDRESS, text: text(TEXT_LENGTH_MAX) });
const ASSIGNMENT_RULE = closedObject({
  path: TEXT_OR_NULL,
  tag: orNull(closedObject({ key: text(TEXT_LENGTH_MAX), value: text(TEXT_LENGTH_MAX) })),
  assigneeId: text(100),
});
const ACTIVITY_FACTS = objectWith({
  kind: oneOf(
    'comment',
    'status',
    'snoozed',
    'snooze_ended',
    'assigned',
    'regressed',
    'merged',
    'merged_into',
    'split_off',
    'issue',
  ),
});
const INCIDENT_ACTOR = objectWith({ via: oneOf(...VIAS) });
/** Step as stored: with optional fields filled in. */
const STEP = { ...DetailedStepInput, required: Object.keys(StepInput.properties) };
const SNAPSHOT_STEP = {
  ...STEP,
  properties: {
    ...STEP.properties,
    countsFrom: AT,
    index: whole(0, 2_147_483_647),
    origin: closedObject({ policyId: text(100), teamId: text(100) }),
    hours: closedObject({
      timezone: text(100),
      windows: POLICY_DETAILS.hours.properties.windows,
      afterMinutes: whole(0, Number.MAX_SAFE_INTEGER),
    }),
  },
};
const REPEATS = closedObject({
  ...POLICY_DETAILS.repeat.properties,
  steps: list(SNAPSHOT_STEP, SNAPSHOT_STEPS_MAX),
  done: whole(0, REPEAT_TIMES_MAX),
});
const ACKNOWLEDGEMENT = closedObject({ userId: text(100), at: AT });
const LAST_TURN = closedObject({ userId: text(100), position: whole(0, 1_000_000) });
const COUNTS = {
  margin_minutes: whole(1, MINUTES_MAX),
  runtime_minutes: whole(1, MINUTES_MAX),
  failure_threshold: whole(1, THRESHOLD_MAX),
  recovery_threshold: whole(1, THRESHOLD_MAX),
};

/** Schemas that the operations which create a row require. `check_row.ts` checks the rest. */
export const COLUMN_CONTRACTS: Contracts = {
  organizations: {
    name: Name,
    key_networks: TEXTS,
    session_networks: TEXTS,
    managed_changes: oneOf(...MANAGED_CHANGES),
    provisioned_role: oneOf(...PROVISIONED_ROLES),
  },
  users: { email: EmailField, name: Name },
  memberships: { role: oneOf(...ROLES), phone: Phone, color: whole(0, PERSON_COLORS.length - 1) },
  teams: { name: Name },
  team_members: { phone: Phone, sort_order: SafeInteger },
  schedules: {
    name: Name,
    rotation_type: oneOf(...ROTATION_TYPES),
    rotation_config: RotationConfigInput,
    layers: STORED_LAYERS,
  },
  schedule_overrides: { layer_id: text(100) },
  holiday_calendars: {
    name: Name,
    url: { type: 'string', maxLength: 2_000, pattern: '^https://', description: 'an https address' },
    dates: list({ type: 'string', pattern: String.raw`^\d{4}-\d{2}-\d{2}$`, description: 'a date' }, HOLIDAYS_MAX),
  },
  escalation_policies: {
    name: Name,
    steps: { type: 'array', items: STEP, minItems: 1, maxItems: POLICY_STEPS_MAX },
    details: { type: 'object', properties: POLICY_DETAILS, additionalProperties: false },
    last_turn: LAST_TURN,
  },
  services: {
    name: Name,
    environment: FreeText,
    scm_owner: FreeText,
    scm_repo: FreeText,
    retention_metrics: DAYS,
    retention_exceptions: DAYS,
    retention_oncall: DAYS,
  },
  service_capabilities: { capability: CAPABILITY },
  billing_periods: { capability: CAPABILITY, currency: text(3) },
  alert_rules: { name: Name, kind: RULE_KIND, config: RECORD, settings: RECORD },
  maintenance_windows: { name: Name, recurrence: RecurrenceView, label_name: text(1_000), label_value: text(1_000) },
  exception_settings: {
    filters: SETTINGS_FIELDS.filters,
    patterns: SETTINGS_FIELDS.patterns,
    secret_names: SETTINGS_FIELDS.secretNames,
    assignment_rules: list(ASSIGNMENT_RULE, 1_000),
    issue_link: WEB_ADDRESS,
  },
  monitors: { ...COUNTS, schedule: RECORD, edited_config: RECORD, sent_config: RECORD },
  monitor_runs: { status: oneOf(...RUN_STATUSES) },
  releases: {
    url: WEB_ADDRESS,
    commits: list(
      closedObject({ id: text(TEXT_LENGTH_MAX), author: TEXT_OR_NULL, message: TEXT_OR_NULL, at: TEXT_OR_NULL }),
    ),
  },
  deploys: { url: WEB_ADDRESS },
  dashboards: { name: Name, layout: Layout },
  exception_groups: {
    level: oneOf(...LEVELS),
    status: oneOf(...GROUP_STATUSES),
    grouping_parts: list(closedObject({ strategy: text(100), because: text(TEXT_LENGTH_MAX), lines: TEXTS })),
    issue_url: WEB_ADDRESS,
  },
  group_activity: { actor: INCIDENT_ACTOR, facts: ACTIVITY_FACTS },
  saved_searches: { name: Name, search: RECORD },
  group_fixes: { kind: oneOf(...FIX_KINDS), known_releases: TEXTS },
  message_templates: { tokens: TEXTS },
  incidents: {
    number: whole(1, NUMBER_MAX),
    kind: oneOf(...INCIDENT_KINDS),
    status: oneOf(...INCIDENT_STATUSES),
    details: RECORD,
    steps: list(SNAPSHOT_STEP, SNAPSHOT_STEPS_MAX),
    repeats: REPEATS,
    acknowledgements: list(ACKNOWLEDGEMENT),
    acknowledged_by: INCIDENT_ACTOR,
    resolved_by: INCIDENT_ACTOR,
  },
  alert_sources: { settings: RECORD },
  alert_routes: { conditions: list({ type: 'object' }, ROUTE_CONDITIONS_MAX), outcome: oneOf(...ROUTE_OUTCOMES) },
  alerts: {
    status: oneOf(...INCIDENT_STATUSES),
    details: RECORD,
    links: list(ALERT_LINK, LINKS_MAX),
    images: list(ALERT_LINK, LINKS_MAX),
    history: list({ type: 'object', required: ['at', 'action'] }, HISTORY_MAX),
  },
  incident_steps: { state: oneOf('pending', 'fired', 'skipped', 'cancelled') },
  incident_timeline: { data: RECORD },
  incident_members: { kind: oneOf(...CAUSE_KINDS) },
  status_publications: { impact: oneOf(...IMPACTS), service_ids: list(text(100), COMPONENTS_MAX) },
  status_updates: { stage: oneOf(...STAGES) },
  proposals: {
    number: whole(1, NUMBER_MAX),
    kind: oneOf('action', 'question'),
    input: RECORD,
    evidence: TEXTS,
    status: oneOf('proposed', 'approved', 'rejected', 'carried_out'),
    decided_by: INCIDENT_ACTOR,
  },
  notifications: { channel: oneOf(...CHANNELS), news: oneOf(...NEWS_EVENTS) },
  agent_settings: { writes_an_hour: whole(1, 1_000), hold_minutes: whole(0, 10) },
  audit_log: {
    actor: objectWith({ kind: oneOf('user', 'api_key', 'system', 'unknown') }),
    via: oneOf(...VIAS, 'system'),
    before: RECORD,
    after: RECORD,
    result: oneOf('done', 'forbidden', 'refused'),
  },
  invitations: { role: oneOf(...ROLES), email: EmailField },
  openid_connections: { default_role: oneOf(...ROLES) },
  scim_groups: { role: oneOf(...ROLES) },
};

/** Schema of a column by its type; undefined for a type without a known schema. */
export const TYPE_CONTRACTS: Readonly<Record<string, object>> = {
  text: text(TEXT_LENGTH_MAX),
  integer: whole(0, 2_147_483_647),
  bigint: whole(0, Number.MAX_SAFE_INTEGER),
  boolean: { type: 'boolean' },
  'timestamp with time zone': text(40),
};

/** Schemas of columns that are never exported, by type: whatever the type can hold. */
export const ANY_COLUMN_CONTRACTS: Readonly<Record<string, object>> = {
  text: { type: 'string' },
  'text[]': { type: 'string', pattern: '^\\{.*\\}$', description: 'a list' },
  integer: whole(-2_147_483_648, 2_147_483_647),
  bigint: whole(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER),
  'double precision': { type: 'number' },
  boolean: { type: 'boolean' },
  bytea: { type: 'string', pattern: String.raw`^\\x([0-9a-f]{2})*$`, description: 'bytes' },
  date: { type: 'string', pattern: String.raw`^\d{4}-\d{2}-\d{2}$`, description: 'a date' },
  jsonb: {},
  'timestamp with time zone': text(40),
};
