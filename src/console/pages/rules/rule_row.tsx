import { ActionIcon, Switch } from '@mantine/core';
import { Link } from '@tanstack/react-router';

import type { Rule } from '#console/api/actions.ts';
import { ActionMenu } from '#console/components/action_menu.tsx';
import { Name } from '#console/components/text/name.tsx';
import { Status } from '#console/components/status.tsx';
import { durationText } from '#console/components/text/time_text.ts';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import { isolateBidi, withoutBidiControls } from '#console/components/text/bidi.ts';
import { IconCopy, IconDots, IconPencil, IconTrash } from '#console/icons.ts';
import { pagedText, stateOf } from '#console/pages/rules/rule_state.ts';
import classes from '#console/pages/rules/rule_row.module.css';
import { conditionText } from '#modules/rules/decide/rule_kinds.ts';

interface RuleRowProps {
  readonly rule: Rule;
  readonly mayEdit: boolean;
  onSwitch(enabled: boolean): void;
  onDelete(): void;
}

/** Row of a rule. The whole row is a link; its buttons lie above it. */
export function RuleRow({ rule, mayEdit, onSwitch, onDelete }: RuleRowProps) {
  const { ruleId, name, serviceName, status, enabled, lastFiredAt, firedCount, waitingForData } = rule;
  const [tone, word] = stateOf(rule);
  return (
    <>
      <div className={classes.state}>
        <Status tone={tone}>{word}</Status>
      </div>
      <div className={classes.what}>
        <Link to="/rules/$ruleId" params={{ ruleId }} className={`${classes.name} row-link ellipsis`} data-row-link>
          <bdi title={name}>{withoutBidiControls(name)}</bdi>
        </Link>
        <div className={`${classes.condition} dimmed shrinks`}>
          <Name>{serviceName}</Name>
          <span aria-hidden>·</span>
          <span className={`${classes.sentence} ellipsis shrinks`} title={conditionText(rule)}>
            {conditionText(rule)}
          </span>
        </div>
      </div>
      <div className={`${classes.fired} numbers`}>
        {status === 'capability_disabled' ? (
          'a capability of the service is off'
        ) : waitingForData !== null ? (
          `data is ${durationText(waitingForData.behindSeconds * 1_000)} behind`
        ) : lastFiredAt === null ? (
          'never fired'
        ) : (
          <>
            <span>
              fired <Timestamp at={lastFiredAt} />
            </span>
            <span>{firedCount === 0 ? 'did not fire in 7 days' : `${firedCount}× in 7 days`}</span>
          </>
        )}
      </div>
      <div className={classes.pages}>
        <Paged rule={rule} />
      </div>
      <div className={`${classes.controls} row spaced`}>
        {mayEdit && (
          <>
            <Switch
              checked={enabled}
              onChange={(event) => onSwitch(event.currentTarget.checked)}
              aria-label={`${isolateBidi(name)} enabled`}
              className={classes.switch}
            />
            <ActionMenu
              button={(props) => (
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  size={36}
                  aria-label={`More for ${isolateBidi(name)}`}
                  {...props}
                >
                  <IconDots size={18} />
                </ActionIcon>
              )}
              entries={[
                {
                  text: 'Edit',
                  icon: <IconPencil size={16} />,
                  renderRoot: (props) => <Link to="/rules/$ruleId/edit" params={{ ruleId }} {...props} />,
                },
                {
                  text: 'Duplicate',
                  icon: <IconCopy size={16} />,
                  renderRoot: (props) => <Link to="/rules/new" search={{ copy: ruleId }} {...props} />,
                },
                { text: 'Delete', icon: <IconTrash size={16} />, isDangerous: true, onClick: onDelete },
              ]}
            />
          </>
        )}
      </div>
    </>
  );
}

function Paged({ rule }: { readonly rule: Rule }) {
  const text = pagedText(rule);
  if (rule.pages === null) return <span className="dimmed">pages nobody</span>;
  return (
    <>
      <span className={classes.policy}>
        <Name>{rule.pages.policyName}</Name>
      </span>
      <span className={text === null ? classes.nobody : 'dimmed'}>
        {text === null ? 'reaches nobody now' : <Name>{text}</Name>}
      </span>
    </>
  );
}
