import type { AuditEntry } from '#console/api/organization.ts';
import { Dialog } from '#console/components/dialog.tsx';
import { isolateBidi } from '#console/components/text/bidi.ts';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import { Sentence } from '#console/components/text/name.tsx';
import classes from '#console/pages/settings/audit.module.css';
import { actName } from '#modules/audit/decide/act_names.ts';
import { VIAS, viaTexts } from '#modules/accounts/decide/caller.ts';
import { fieldText, type NameOf, targetText, withNames } from '#console/pages/settings/audit_target.ts';
import { visibleJson, visibleText } from '#modules/agents/decide/agent_text.ts';

const KINDS: Readonly<Record<string, string>> = {
  system: 'Tocsin itself',
  unknown: 'unknown',
  user: 'a former member',
};

/** Returns who did it: a person, with the key or app that they used, or a key of the organization. */
export function whoText({ actor, apiKey, connection, proposal, chatAccount }: AuditEntry): string {
  const keyName = apiKey?.name == null ? null : `the API key "${isolateBidi(apiKey.name)}"`;
  if (actor.kind === 'api_key') return keyName ?? 'an API key';
  const name = actor.name === null ? (KINDS[actor.kind] ?? actor.kind) : isolateBidi(actor.name);
  if (proposal !== null) return `${name}, as ${isolateBidi(proposal.agentName)} proposed`;
  if (connection !== null) return `${name}, through ${isolateBidi(connection.clientName)}`;
  if (chatAccount !== null) return `${name}, as ${isolateBidi(chatAccount.name)}`;
  return keyName === null ? name : `${name}, with ${keyName}`;
}

export function viaText({ via }: { readonly via: string }): string {
  const knownVia = VIAS.find((candidate) => candidate === via);
  return knownVia === undefined ? via : viaTexts(knownVia).title;
}

interface AuditDetailsProps {
  readonly entry: AuditEntry;
  readonly nameOf: NameOf;
  readonly onClose: () => void;
}

/** Dialog of one entry, with the changed fields before and after. */
export function AuditDetails({ entry, nameOf, onClose }: AuditDetailsProps) {
  const { action, at, target, result, address, requestId, before, after } = entry;
  const facts: readonly (readonly [string, React.ReactNode])[] = [
    ['When', <Timestamp key="at" at={at} format="date_time" />],
    ['Who', `${whoText(entry)}, via ${viaText(entry)}`],
    ['Target', target === null ? null : targetText(entry, nameOf)],
    ['Result', result],
    ['Address', address],
    ['Action', action],
    ['Id', target],
    ['Request', requestId],
  ];
  return (
    <Dialog onClose={onClose} title={actName(action)} isWide>
      <dl className={classes.change}>
        {facts
          .filter(([, value]) => value !== null)
          .map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{typeof value === 'string' ? <Sentence>{value}</Sentence> : value}</dd>
            </div>
          ))}
      </dl>
      <Changes before={before} after={after} nameOf={nameOf} />
    </Dialog>
  );
}

interface ChangesProps {
  readonly before: unknown;
  readonly after: unknown;
  readonly nameOf: NameOf;
}

function Changes({ before, after, nameOf }: ChangesProps) {
  const [old, fresh] = [fieldsOf(before), fieldsOf(after)];
  const names = [...new Set([...Object.keys(old), ...Object.keys(fresh)])];
  const changed = names.filter((name) => textOf(old[name]) !== textOf(fresh[name]));
  if (changed.length === 0) return null;
  return (
    <table className={classes.fields}>
      <thead>
        <tr>
          <th scope="col">Field</th>
          <th scope="col">Before</th>
          <th scope="col">After</th>
        </tr>
      </thead>
      <tbody>
        {changed.map((name) => (
          <tr key={name}>
            <th scope="row">{fieldText(name)}</th>
            <td className={classes.before}>
              <Sentence>{withNames(textOf(old[name]), nameOf)}</Sentence>
            </td>
            <td className={classes.after}>
              <Sentence>{withNames(textOf(fresh[name]), nameOf)}</Sentence>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function textOf(value: unknown): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? visibleText(value) : visibleJson(value);
}
