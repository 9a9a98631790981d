import { type Static, Type } from 'typebox';

import { type ActionContext, defineOperation } from '#actions/action_context.ts';
import { EXAMPLE_IDS, IdText, StrictObject } from '#actions/fields.ts';
import { RuleConfigView, RuleKindName } from '#modules/rules/view.ts';
import { readHistory } from '#modules/rules/operations/read_rule_history.ts';
import { type SuggestedRule, suggestedRules, suggestThreshold } from '#modules/rules/decide/rule_templates.ts';
import { AppError } from '#kernel/errors.ts';
import type { ServiceWithCapabilities } from '#modules/services/store/service_store.ts';

const SERVICES_MAX = 20;
const SUGGESTIONS_MAX = 6;

const SuggestionView = Type.Object({
  serviceId: IdText,
  serviceName: Type.String(),
  name: Type.String(),
  kind: RuleKindName,
  config: RuleConfigView,
});

type Suggestion = Static<typeof SuggestionView>;

/** Suggests rules for the page of rules while there is none. */
export const suggestRules = defineOperation({
  name: 'suggest_rules',
  summary: 'Suggest alert rules for metrics that really arrive, with thresholds beyond what the last day has measured.',
  permission: 'oncall:view',
  effect: 'read',
  input: StrictObject({ serviceId: Type.Optional(IdText) }),
  result: Type.Object({ suggestions: Type.Array(SuggestionView) }),
  example: { serviceId: EXAMPLE_IDS.serviceId },
  async handle({ serviceId }, context) {
    const { caller, stores } = context;
    const services =
      serviceId === undefined
        ? await stores.services.search(
            caller.orgId,
            { text: undefined, serviceIds: undefined },
            { after: null, limit: SERVICES_MAX },
          )
        : [await stores.services.get(caller.orgId, serviceId)];
    const candidates: { service: ServiceWithCapabilities; rule: SuggestedRule | null }[] = [];
    for (const service of services) {
      const rules = await suggestionsOf(service, context);
      candidates.push(...rules.map((rule) => ({ service, rule })));
    }
    // Takes one suggestion of each service before a second of any.
    const spread = [...Map.groupBy(candidates, ({ service }) => service.id).values()]
      .flatMap((ofService) => ofService.map((suggestion, place) => ({ ...suggestion, place })))
      .toSorted((a, b) => a.place - b.place)
      .slice(0, SUGGESTIONS_MAX);
    const suggestions: Suggestion[] = [];
    for (const { service, rule } of spread) suggestions.push(await toSuggestion(service, rule, context));
    return { suggestions };
  },
});

/** Returns the suggestions for a service; null stands for a rule about new exceptions. */
async function suggestionsOf(
  { id, capabilities, retentionMetrics }: ServiceWithCapabilities,
  { metrics, now }: ActionContext,
): Promise<(SuggestedRule | null)[]> {
  const names = capabilities.includes('metrics')
    ? await metrics.listNames(id, now.subtract({ hours: 24 * Math.min(retentionMetrics, 2) }))
    : [];
  return [...suggestedRules(names), ...(capabilities.includes('exceptions') ? [null] : [])];
}

async function toSuggestion(
  service: ServiceWithCapabilities,
  rule: SuggestedRule | null,
  context: ActionContext,
): Promise<Suggestion> {
  const of = { serviceId: service.id, serviceName: service.name };
  if (rule === null) {
    return { ...of, name: `New exceptions in ${service.name}`, kind: 'exception', config: { minSeverity: 'error' } };
  }
  const values = await readHistory(service, { ...rule.config, days: 1 }, context)
    .then(({ values: measured }) => measured)
    .catch((error: unknown) => {
      if (error instanceof AppError && error.code === 'invalid_input') return [];
      throw error;
    });
  return {
    ...of,
    name: `${service.name} ${rule.title}`,
    kind: 'metric_threshold',
    config: { ...rule.config, threshold: suggestThreshold(rule, values) },
  };
}
