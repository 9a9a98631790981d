import type { ProposalText, ProposedObject } from '#modules/agents/decide/proposal.ts';
import { quoted } from '#modules/agents/decide/agent_text.ts';
import type { Id } from '#kernel/ids.ts';
import type { ObjectName } from '#modules/agents/store/object_name_reader.ts';
import type { ProposalRow } from '#modules/agents/store/proposal_store.ts';
import type { Stores } from '#modules/stores.ts';

/** Limit on the objects that are named; more are only counted, and the console shows the exact input. */
const NAMED_MAX = 4;
const NAME_LENGTH_MAX = 60;
const IDS_MAX = 50;

const ID = /^([a-z]+)_[0-9a-z]{26}$/;

const NOUNS: Readonly<Record<string, string>> = {
  service: 'service',
  team: 'team',
  schedule: 'schedule',
  policy: 'escalation policy',
  rule: 'alert rule',
  dashboard: 'dashboard',
  user: 'user',
  member: 'team member',
  group: 'exception group',
  incident: 'incident',
};

/** A proposal with what its input names, by the names that these have here. */
export async function describeProposal(
  stores: Pick<Stores, 'objectNames'>,
  proposal: ProposalRow,
): Promise<ProposalRow & ProposalText> {
  const objects = proposal.input === null ? [] : await findObjects(stores, proposal.orgId, proposal.input);
  return { ...proposal, objects };
}

async function findObjects(
  { objectNames }: Pick<Stores, 'objectNames'>,
  orgId: Id<'org'>,
  input: Readonly<Record<string, unknown>>,
): Promise<ProposedObject[]> {
  const ids = [...new Set(idsIn(input))].slice(0, IDS_MAX);
  const names = await objectNames.find(orgId, ids);
  const objects = ids.flatMap((id): ProposedObject[] => {
    const noun = NOUNS[ID.exec(id)?.[1] ?? ''];
    if (noun === undefined) return [];
    const name = names.get(id);
    return [{ noun, name: name === undefined ? null : nameText(name) }];
  });
  const left = objects.length - NAMED_MAX;
  return left > 0 ? [...objects.slice(0, NAMED_MAX), { noun: 'and', name: `${left} more` }] : objects;
}

function nameText({ name, number }: ObjectName): string {
  const shown = name.length > NAME_LENGTH_MAX ? `${name.slice(0, NAME_LENGTH_MAX).toWellFormed()}..` : name;
  return number === undefined ? quoted(shown) : `${number} of ${quoted(shown)}`;
}

/** Returns the ids in a value, in the order of the input. */
function idsIn(value: unknown): string[] {
  if (typeof value === 'string') return ID.test(value) ? [value] : [];
  if (Array.isArray(value)) return value.flatMap(idsIn);
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(idsIn) : [];
}
