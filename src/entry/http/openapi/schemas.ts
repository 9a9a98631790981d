import { DashboardSummaryView, DashboardView, Layout } from '#modules/dashboards/operations/view.ts';
import { FrameView, RecentEventView } from '#modules/exceptions/operations/recent_event.ts';
import { TriageView } from '#modules/exceptions/operations/triage.ts';
import { ExceptionGroupView, GroupStatusName, LevelName } from '#modules/exceptions/operations/view.ts';
import { IncidentView, IncidentWithLogView } from '#modules/incidents/view.ts';
import { MetricSeriesView } from '#modules/metrics/operations/view.ts';
import { StepInput } from '#modules/policies/operations/create_escalation_policy.ts';
import { ChannelName, PolicyView } from '#modules/policies/view.ts';
import { RULE_CONFIG_VIEWS, RuleConfigInput, RuleKindName, RuleView } from '#modules/rules/view.ts';
import { RotationConfigInput } from '#modules/schedules/operations/layer_fields.ts';
import { RotationTypeName, ScheduleView } from '#modules/schedules/view.ts';
import { CapabilityName, ServiceView, ServiceWithKeysView } from '#modules/services/view.ts';
import { MemberView, TeamView, WholeTeamView } from '#modules/teams/view.ts';
import { WarningView } from '#modules/teams/warnings.ts';
import { type IdSource, idSourceOf } from '#actions/id_sources.ts';

/** Converts to Pascal case: `invalid_input` to `InvalidInput`. */
export function componentName(name: string): string {
  return name.replaceAll(/(?:^|_)([a-z])/g, (_match, letter: string) => letter.toUpperCase());
}

/** Schema as JSON: OpenAPI 3.1 accepts TypeBox's schemas; only their readability is improved. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** Schemas that have a name in the reference, wherever they are used. */
const NAMED: Readonly<Record<string, object>> = {
  Service: ServiceView,
  ServiceWithKeys: ServiceWithKeysView,
  Capability: CapabilityName,
  DashboardSummary: DashboardSummaryView,
  Dashboard: DashboardView,
  Layout,
  MetricSeries: MetricSeriesView,
  ExceptionGroup: ExceptionGroupView,
  ExceptionGroupStatus: GroupStatusName,
  ExceptionTriage: TriageView,
  ExceptionEvent: RecentEventView,
  StackFrame: FrameView,
  Severity: LevelName,
  Team: TeamView,
  TeamWithAll: WholeTeamView,
  TeamMember: MemberView,
  ReachabilityWarning: WarningView,
  Schedule: ScheduleView,
  RotationType: RotationTypeName,
  RotationConfig: RotationConfigInput,
  EscalationPolicy: PolicyView,
  EscalationStep: StepInput,
  Channel: ChannelName,
  AlertRule: RuleView,
  AlertRuleKind: RuleKindName,
  AlertRuleConfig: RuleConfigInput,
  ...Object.fromEntries(RULE_CONFIG_VIEWS.map(({ kind, view }) => [componentName(`${kind}_config`), view])),
  Incident: IncidentView,
  IncidentWithLog: IncidentWithLogView,
};

const NAMES = new Map(Object.entries(NAMED).map(([name, schema]) => [JSON.stringify(schema), name]));

/** Returns the named schemas, each with references to the others. */
export function componentSchemas(): Record<string, JsonSchema> {
  return Object.fromEntries(Object.entries(NAMED).map(([name, schema]) => [name, inside(schema as JsonSchema)]));
}

/** Converts a schema for the document: to a reference if it has a name. */
export function toOpenApiSchema(schema: object): JsonSchema {
  const name = NAMES.get(JSON.stringify(schema));
  return name === undefined ? inside(schema as JsonSchema) : { $ref: `#/components/schemas/${name}` };
}

function inside(schema: JsonSchema): JsonSchema {
  const { anyOf, properties, items, patternProperties, additionalProperties, ...rest } = schema;
  return {
    ...('enum' in rest && !('type' in rest) ? { type: 'string' } : {}),
    ...rest,
    ...(Array.isArray(anyOf) ? alternatives(anyOf as JsonSchema[]) : {}),
    ...(properties === undefined ? {} : { properties: propertiesOf(properties as Record<string, JsonSchema>) }),
    ...(items === undefined ? {} : { items: toOpenApiSchema(items as JsonSchema) }),
    ...(patternProperties === undefined ? {} : { additionalProperties: valuesOf(patternProperties as object) }),
    ...(additionalProperties === undefined ? {} : { additionalProperties }),
  };
}

/** Returns the schema of the values of a record. */
function valuesOf(patternProperties: object): JsonSchema {
  const [values = {}] = Object.values(patternProperties) as object[];
  return toOpenApiSchema(values);
}

function propertiesOf(properties: Record<string, JsonSchema>): Record<string, JsonSchema> {
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => {
      const property = toOpenApiSchema(schema);
      const source = idSourceOf(name);
      return [
        name,
        source === undefined || 'description' in property ? property : { ...property, description: toSentence(source) },
      ];
    }),
  );
}

function toSentence({ noun, kind, shownBy }: IdSource): string {
  return `the id of ${noun} (\`${kind}_…\`), as ${shownBy} shows it`;
}

/** Merges alternatives: "text or null" reads best as two types of one schema. */
function alternatives(schemas: readonly JsonSchema[]): JsonSchema {
  const [first, second, ...more] = schemas.map(toOpenApiSchema);
  const isNullable = more.length === 0 && second?.['type'] === 'null';
  if (first === undefined || !isNullable || typeof first['type'] !== 'string') {
    return { anyOf: schemas.map(toOpenApiSchema) };
  }
  const nullable = { ...first, type: [first['type'], 'null'] };
  return Array.isArray(first['enum']) ? { ...nullable, enum: [...first['enum'], null] } : nullable;
}
