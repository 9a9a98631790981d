import { COLUMN_CONTRACTS, TYPE_CONTRACTS } from '#entry/transfer/column_contracts.ts';
import { ORGANIZATION_TABLES } from '#entry/transfer/organization_tables.ts';
import { areConditions } from '#modules/alerts/decide/route.ts';
import { unreadableSettings } from '#modules/alerts/decide/source_settings.ts';
import { parseRuleConfig, parseRuleSettings } from '#modules/rules/decide/rule_settings.ts';
import { MAINTENANCE_DAYS_MAX } from '#modules/maintenance/decide/maintenance.ts';
import { isRuleKind, type RuleConfig } from '#modules/rules/decide/rule_kinds.ts';
import { parseTraceLink } from '#modules/metrics/decide/trace_link.ts';
import { toSlug } from '#modules/monitors/decide/check_in.ts';
import { storedConfigFaults, storedScheduleFaults } from '#modules/monitors/decide/schedule.ts';
import { faultsOf } from '#modules/contacts/decide/parsed.ts';
import { parseTimeZone } from '#modules/schedules/decide/schedule_times.ts';
import type { Fault } from '#kernel/errors.ts';
import { type Kind, KIND_NOUNS } from '#kernel/ids.ts';
import { findFaults } from '#kernel/input_faults.ts';
import { areLayers, isWallTime } from '#modules/schedules/decide/stored_layers.ts';
import { FAR_FUTURE, isAtOrBefore, Temporal, toTimestamp } from '#kernel/time.ts';

const SELECT_COLUMNS = `
  select c.relname::text as table, a.attname::text as name, format_type(a.atttypid, null) as type,
    not a.attnotnull as "isNullable", a.atthasdef as "hasDefault"
  from pg_attribute a join pg_class c on c.oid = a.attrelid
  where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'
    and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' and a.attidentity = ''
  order by c.relname, a.attnum`;

export type Row = Readonly<Record<string, unknown>>;

/** Kinds of the ids in columns. */
const KINDS_OF_COLUMNS: Readonly<Record<string, Kind>> = {
  org_id: 'org',
  user_id: 'user',
  assigned_user_id: 'user',
  assigned_team_id: 'team',
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
  merged_into_id: 'group',
  incident_id: 'incident',
  parent_id: 'incident',
  proposal_id: 'proposal',
  digest_id: 'notification',
  page_id: 'statuspage',
  publication_id: 'publication',
};

/** Kinds of the rows of tables, for rows that have an id. */
export const KINDS_OF_TABLES: Readonly<Partial<Record<string, Kind>>> = {
  organizations: 'org',
  users: 'user',
  teams: 'team',
  team_members: 'member',
  schedules: 'schedule',
  holiday_calendars: 'calendar',
  schedule_overrides: 'override',
  escalation_policies: 'policy',
  services: 'service',
  billing_periods: 'period',
  alert_rules: 'rule',
  maintenance_windows: 'maintenance',
  monitors: 'monitor',
  deploys: 'deploy',
  dashboards: 'dashboard',
  exception_groups: 'group',
  group_activity: 'activity',
  saved_searches: 'search',
  incidents: 'incident',
  alert_sources: 'alertsource',
  alert_routes: 'alertroute',
  alerts: 'alert',
  incident_notes: 'note',
  status_pages: 'statuspage',
  status_publications: 'publication',
  status_updates: 'statusupdate',
  proposals: 'proposal',
  notifications: 'notification',
  audit_log: 'audit',
};

const FIRST_INSTANT = Temporal.Instant.from('1970-01-01T00:00:00Z');

/** Checks rows of one table against the contract of the operations that create them. */
export class RowCheck {
  readonly #table: string;
  readonly #columns: readonly TableColumn[];
  readonly #anyOfType: Readonly<Record<string, object>> | null;
  readonly #shape: object;
  /** Columns of the first row: an export writes the same columns in every row. */
  #written: string | null = null;

  /** `anyOfType` has the schemas by type of a table that is never exported, whose ids may be of any kind. */
  constructor(
    table: string,
    columns: readonly TableColumn[],
    anyOfType: Readonly<Record<string, object>> | null = null,
  ) {
    this.#table = table;
    this.#columns = columns;
    this.#anyOfType = anyOfType;
    const contracts = COLUMN_CONTRACTS[table] ?? {};
    this.#shape = {
      type: 'object',
      properties: Object.fromEntries(
        columns.map((column) => [column.name, this.#schemaOf(column, contracts[column.name])]),
      ),
      required: columns.filter(({ isNullable, hasDefault }) => !isNullable && !hasDefault).map(({ name }) => name),
      additionalProperties: false,
    };
  }

  /** Returns the faults of a row; empty if the product may have written it. */
  faultsOf(row: Row): Fault[] {
    const faults = findFaults(this.#shape, row);
    if (faults.length > 0) return faults;
    const written = Object.keys(row).sort().join(', ');
    this.#written ??= written;
    if (written !== this.#written)
      return [{ path: '', message: `must have the columns of the first: ${this.#written}` }];
    const times = this.#instantFaults(row);
    return times.length > 0 ? times : [...(CHECKS[this.#table]?.(row) ?? [])];
  }

  #schemaOf({ name, type, isNullable }: TableColumn, contract: object | undefined): object {
    const kind = name === 'id' ? KINDS_OF_TABLES[this.#table] : KINDS_OF_COLUMNS[name];
    const schema =
      kind === undefined || this.#anyOfType !== null
        ? (contract ?? (this.#anyOfType ?? TYPE_CONTRACTS)[type])
        : idOf(kind);
    if (schema === undefined) throw new Error(`no contract says what ${this.#table}.${name} may hold`);
    return isNullable ? { anyOf: [schema, { type: 'null' }] } : schema;
  }

  #instantFaults(row: Row): Fault[] {
    return this.#columns.flatMap(({ name, type }) => {
      const value = row[name];
      if (type !== 'timestamp with time zone' || typeof value !== 'string' || isInstant(value)) return [];
      return [
        { path: name, message: `must be a time between ${toTimestamp(FIRST_INSTANT)} and ${toTimestamp(FAR_FUTURE)}` },
      ];
    });
  }
}

function idOf(kind: Kind): object {
  return {
    type: 'string',
    pattern: `^${kind}_[0-7][0-9a-hjkmnp-tv-z]{25}$`,
    description: `the id of ${KIND_NOUNS[kind]}`,
  };
}

/** Whether a text is a time that a row may have. */
export function isInstant(text: string): boolean {
  try {
    const instant = Temporal.Instant.from(text);
    return isAtOrBefore(FIRST_INSTANT, instant) && isAtOrBefore(instant, FAR_FUTURE);
  } catch {
    return false;
  }
}

const CHECKS: Readonly<Record<string, (row: Row) => readonly Fault[]>> = {
  organizations: ({ trace_link: link }) =>
    typeof link === 'string' ? faultsOf(parseTraceLink(link, 'trace_link')) : [],
  schedules: (row) => [...zoneFaults(row), ...wallFaults(row), ...layerFaults(row)],
  maintenance_windows: (row) => [...zoneFaults(row), ...maintenanceFaults(row)],
  alert_rules: ruleFaults,
  alert_routes: ({ conditions }) =>
    areConditions(conditions)
      ? []
      : [{ path: 'conditions', message: 'must be conditions as set_alert_routes takes them' }],
  alert_sources: ({ settings }) =>
    unreadableSettings(settings as object).map((name) => ({
      path: `settings.${name}`,
      message: 'must be a setting as set_alert_source takes it',
    })),
  monitors: monitorFaults,
  event_feedback: ({ id }) =>
    findFaults(
      { type: 'object', properties: { id: { type: 'string', pattern: '^[0-9a-f-]{32,36}$', description: 'a UUID' } } },
      { id },
    ),
};

function zoneFaults({ timezone }: Row): readonly Fault[] {
  return faultsOf(parseTimeZone(String(timezone), 'timezone'));
}

function wallFaults({ start_wall: wall, start_at: startAt }: Row): readonly Fault[] {
  if (typeof wall !== 'string' || isWallTime(wall, Temporal.Instant.from(String(startAt)))) return [];
  return [{ path: 'start_wall', message: 'must be the local time of start_at' }];
}

function layerFaults({ layers }: Row): readonly Fault[] {
  return areLayers(layers ?? null) ? [] : [{ path: 'layers', message: 'must be layers as they are stored' }];
}

/** Returns the faults of a rule. Settings are stored as the console sends them, without those of the other kind. */
function ruleFaults({ kind, config, settings }: Row): readonly Fault[] {
  if (!isRuleKind(kind)) return [{ path: 'kind', message: 'is no kind of rule' }];
  const faults = faultsOf(parseRuleConfig(kind, config, 'config'));
  if (faults.length > 0 || settings === null || settings === undefined) return faults;
  return faultsOf(parseRuleSettings({ kind, config: config as RuleConfig }, settings, 'settings'));
}

function maintenanceFaults(row: Row): readonly Fault[] {
  const { service_id: service, rule_id: rule, label_name: label, label_value: value } = row;
  const targets = [service, rule, label].filter((target) => target !== null && target !== undefined);
  if (targets.length !== 1 || (label === null) !== (value === null)) {
    return [
      { path: 'service_id', message: 'must be given, or rule_id, or label_name with label_value: one of the three' },
    ];
  }
  const { starts_at: from, ends_at: to, recurrence } = row;
  if (typeof to !== 'string' || typeof from !== 'string') {
    return recurrence === null ? [{ path: 'ends_at', message: 'is required, unless the window recurs' }] : [];
  }
  const [startsAt, endsAt] = [Temporal.Instant.from(from), Temporal.Instant.from(to)];
  const longest = startsAt.add({ hours: 24 * MAINTENANCE_DAYS_MAX });
  if (isAtOrBefore(endsAt, startsAt) || (recurrence === null && !isAtOrBefore(endsAt, longest))) {
    return [{ path: 'ends_at', message: `must be after starts_at, by at most ${MAINTENANCE_DAYS_MAX} days` }];
  }
  return [];
}

function monitorFaults(row: Row): readonly Fault[] {
  const { slug, schedule, edited_config: edited, sent_config: sent } = row;
  const faults = [
    ...(schedule == null ? [] : storedScheduleFaults(schedule, 'schedule')),
    ...(edited == null ? [] : storedConfigFaults(edited, 'edited_config')),
    ...(sent == null ? [] : storedConfigFaults(sent, 'sent_config')),
  ];
  return typeof slug === 'string' && toSlug(slug) === slug
    ? faults
    : [...faults, { path: 'slug', message: 'is no name of a monitor' }];
}

/** Column that an export writes and an import takes. */
export interface TableColumn {
  readonly name: string;
  /** Type as PostgreSQL names it, without its precision. */
  readonly type: string;
  readonly isNullable: boolean;
  readonly hasDefault: boolean;
}

type ReadRows = (text: string) => Promise<TableRow[]>;

interface TableRow extends TableColumn {
  readonly table: string;
}

/** Reads the columns by table, without secrets and numbers that each database assigns by itself. */
export async function readTableColumns(rows: ReadRows): Promise<ReadonlyMap<string, readonly TableColumn[]>> {
  const all = Map.groupBy(await rows(SELECT_COLUMNS), ({ table }) => table);
  return new Map(
    ORGANIZATION_TABLES.map(({ table, without = [] }) => [
      table,
      (all.get(table) ?? []).filter(({ name }) => !without.includes(name)),
    ]),
  );
}
