import { Type } from 'typebox';

import { STRICT } from '#actions/fields.ts';
import { RULE_KIND_NAMES, RULE_KINDS, type RuleConfig, type RuleKind } from '#modules/rules/decide/rule_kinds.ts';

const fieldsOf = (kind: RuleKind) =>
  Object.entries<object>(RULE_KINDS[kind].properties).map(([name, schema]) => [name, Type.Unsafe(schema)] as const);

/** Properties of every kind; which of them a kind has, and which it must have, is checked with the kind. */
export const RuleConfigInput = Type.Partial(Type.Object(Object.fromEntries(RULE_KIND_NAMES.flatMap(fieldsOf))), {
  ...STRICT,
  description: RULE_KIND_NAMES.map((kind) => `${kind}: ${RULE_KINDS[kind].propertiesText}`).join('; '),
});

/** The complete config of each kind. */
export const RULE_CONFIG_VIEWS = RULE_KIND_NAMES.map((kind) => ({
  kind,
  view: Type.Object(Object.fromEntries(fieldsOf(kind))),
}));

export const RuleConfigView = Type.Unsafe<RuleConfig>(Type.Union(RULE_CONFIG_VIEWS.map(({ view }) => view)));
