import { ActionIcon, Button, Checkbox, Group, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type KeyboardEvent, useEffect, useEffectEvent, useId, useRef, useState } from 'react';

import { teamQuery } from '#console/api/teams.ts';
import { Choice } from '#console/components/forms/choice.tsx';
import { onCallLabel } from '#console/components/text/role.ts';
import { useFoundMembers } from '#console/components/forms/person_picker.tsx';
import { Status } from '#console/components/status.tsx';
import { Name } from '#console/components/text/name.tsx';
import { PersonDot } from '#console/components/text/person_dot.tsx';
import { useNamesOf } from '#console/components/text/use_names_of.ts';
import classes from '#console/pages/oncall/people_order.module.css';
import { IconArrowDown, IconArrowUp, IconCheck, IconPlus, IconX } from '#console/icons.ts';
import { InvitedIntoTeam, InviteInstead } from '#console/pages/oncall/join_team.tsx';
import { type TurnDraft, withNobody, withPersonIn, withTurnMoved } from '#console/pages/oncall/schedule_draft.ts';
import { useOrganization } from '#console/shell/organization.tsx';

interface LayerTurnsProps {
  readonly turns: readonly TurnDraft[];
  /** Team whose members are offered first; empty for none yet. */
  readonly teamId: string;
  readonly nameOf: (userId: string) => string;
  readonly error: string | undefined;
  /** Whether every turn is that of one person. */
  readonly isPlain?: boolean;
  readonly onChange: (turns: readonly TurnDraft[]) => void;
}

/** Editor of the turns of a layer, in their order. Alt and an arrow move the focused turn, Delete removes it. */
export function LayerTurns({ turns, teamId, nameOf, error, isPlain = false, onChange }: LayerTurnsProps) {
  const [typed, setTyped] = useState('');
  const [added, setAdded] = useState(0);
  const [isTogether, setIsTogether] = useState(false);
  const list = useRef<HTMLOListElement>(null);
  const id = useId();
  /** Whether Enter was pressed: the first person found is added, now or when the server has answered. */
  const isAwaited = useRef(false);
  const { isUnreached } = useNamesOf(turns.flatMap(({ userIds }) => userIds));
  const { members: people, invited, further } = useFoundMembers(typed);
  const focusRow = (index: number): void => {
    const row = Math.min(index, turns.length - 1);
    requestAnimationFrame(() => list.current?.querySelectorAll<HTMLElement>('li')[row]?.focus());
  };
  const onKeyDown = (event: KeyboardEvent, index: number): void => {
    const by = event.key === 'ArrowUp' ? -1 : event.key === 'ArrowDown' ? 1 : null;
    if (event.altKey && by !== null) {
      event.preventDefault();
      onChange(withTurnMoved(turns, index, by));
      focusRow(Math.max(0, index + by));
    } else if (event.key === 'Delete' && event.target === event.currentTarget) {
      event.preventDefault();
      onChange(turns.toSpliced(index, 1));
      focusRow(Math.min(index, turns.length - 2));
    }
  };
  const add = (userId: string): void => {
    onChange(withPersonIn(turns, userId, isTogether));
    setTyped('');
  };
  const pick = (userId: string): void => {
    add(userId);
    setAdded(added + 1);
  };
  const addAwaited = (): void => {
    const [match] = people;
    if (!isAwaited.current || match === undefined) return;
    isAwaited.current = false;
    pick(match.userId);
  };
  const onFound = useEffectEvent(addAwaited);
  const firstFound = people[0]?.userId;
  useEffect(() => {
    if (firstFound !== undefined) onFound();
  }, [firstFound]);
  /** Handles Enter while somebody types a name: it never saves the form, also before there is a list to choose from. */
  const addFirstMatch = (event: KeyboardEvent): void => {
    const isInPicker = event.target instanceof HTMLInputElement;
    if (event.key !== 'Enter' || !isInPicker || typed === '' || event.isDefaultPrevented()) return;
    event.preventDefault();
    isAwaited.current = true;
    addAwaited();
  };
  return (
    <div role="group" aria-labelledby={id} onKeyDown={addFirstMatch}>
      <Text id={id} size="sm" fw={500}>
        Who takes turns
      </Text>
      <Text size="xs" c="dimmed" mb={6}>
        In this order, then from the beginning.{' '}
        {isPlain
          ? 'Somebody added twice has two turns.'
          : 'Everybody of one turn is on call at once; in a turn of nobody the layers below decide.'}
      </Text>
      {teamId !== '' && <OfTeam teamId={teamId} turns={turns} onAdd={add} />}
      {turns.length > 0 && (
        <ol className={`${classes.list} plain-list bordered`} ref={list} aria-label="Order of turns">
          {turns.map((turn, index) => {
            const names = turn.userIds.length === 0 ? 'Nobody' : turn.userIds.map(nameOf).join(' and ');
            return (
              // The row itself takes keys, as its label says.
              // eslint-disable-next-line jsx-a11y/no-noninteractive-element-interactions, jsx-a11y/no-noninteractive-tabindex
              <li
                key={turn.key}
                className={`${classes.person} row`}
                tabIndex={0}
                onKeyDown={(event) => onKeyDown(event, index)}
              >
                <span className={`${classes.place} dimmed small rigid numbers`}>{index + 1}</span>
                <span className="grow small">
                  {turn.userIds[0] !== undefined && <PersonDot userId={turn.userIds[0]} />}
                  <Name>{names}</Name>
                  {turn.userIds.some(isUnreached) && <Status tone="amber">nothing reaches them</Status>}
                </span>
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  size={36}
                  disabled={index === 0}
                  onClick={() => onChange(withTurnMoved(turns, index, -1))}
                  aria-label={`Move ${names} up`}
                >
                  <IconArrowUp size={16} />
                </ActionIcon>
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  size={36}
                  disabled={index === turns.length - 1}
                  onClick={() => onChange(withTurnMoved(turns, index, 1))}
                  aria-label={`Move ${names} down`}
                >
                  <IconArrowDown size={16} />
                </ActionIcon>
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  size={36}
                  onClick={() => onChange(turns.toSpliced(index, 1))}
                  aria-label={`Remove ${names}`}
                >
                  <IconX size={16} />
                </ActionIcon>
              </li>
            );
          })}
        </ol>
      )}
      <Choice
        // The key makes a new field after each choice, also after Enter before the answer.
        key={added}
        autoFocus={added > 0}
        // After a choice the list would cover what follows in the form.
        opensOnFocus={added === 0}
        label="Add a person"
        isLabelHidden
        placeholder={isTogether ? 'Add a person to the last turn' : 'Add a person'}
        options={[...people.map((person) => ({ value: person.userId, label: onCallLabel(person) })), ...invited]}
        further={further}
        value={null}
        onSearch={(text) => {
          isAwaited.current = false;
          setTyped(text);
        }}
        onChange={(userId) => {
          if (userId !== null) pick(userId);
        }}
        emptyText="Nobody has this name"
        error={error}
      />
      <InviteInstead teamId={teamId} />
      {!isPlain && (
        <Group gap="md" mt={6}>
          <Checkbox
            size="xs"
            label="To the last turn, together"
            checked={isTogether}
            disabled={turns.length === 0}
            onChange={({ currentTarget }) => setIsTogether(currentTarget.checked)}
          />
          <Button size="compact-xs" variant="subtle" onClick={() => onChange(withNobody(turns))}>
            Add a turn of nobody
          </Button>
        </Group>
      )}
    </div>
  );
}

/** Most members that are offered as buttons. */
const OFFERED_MAX = 12;

interface OfTeamProps {
  readonly teamId: string;
  readonly turns: readonly TurnDraft[];
  readonly onAdd: (userId: string) => void;
}

/** Buttons that add members of the team, also for a second turn. */
function OfTeam({ teamId, turns, onAdd }: OfTeamProps) {
  const { orgId } = useOrganization().org;
  const { data } = useQuery(teamQuery(orgId, teamId));
  const members = data?.members ?? [];
  return (
    <>
      {members.length > 0 && (
        <Group gap={6} mb="xs" role="group" aria-label="Members of the team">
          {members.slice(0, OFFERED_MAX).map(({ userId, name }) => {
            const isIn = turns.some(({ userIds }) => userIds.includes(userId));
            return (
              <Button
                key={userId}
                size="compact-sm"
                variant="default"
                leftSection={isIn ? <IconCheck size={14} /> : <IconPlus size={14} />}
                onClick={() => onAdd(userId)}
              >
                <Name>{name}</Name>
              </Button>
            );
          })}
        </Group>
      )}
      <InvitedIntoTeam teamId={teamId} />
    </>
  );
}
