import { ActionIcon, Text } from '@mantine/core';
import { IconArrowDown, IconArrowUp, IconX } from '@tabler/icons-react';
import { type KeyboardEvent, useEffect, useEffectEvent, useId, useRef, useState } from 'react';
import { Choice } from '#console/components/forms/choice.tsx';

import { dutyLabel } from '#console/components/text/role.ts';
import { useFoundMembers } from '#console/components/forms/found_members.ts';
import { Name } from '#console/components/text/name.tsx';
import classes from '#console/pages/oncall/people_order.module.css';
import { type ScheduleDraft, withMoved, withoutTurn, withPerson } from '#console/pages/oncall/schedule_draft.ts';

interface PeopleOrderProps {
  readonly draft: ScheduleDraft;
  readonly nameOf: (userId: string) => string;
  readonly error: string | undefined;
  readonly onChange: (draft: ScheduleDraft) => void;
}

/** Editor of the people who take turns, in their order. Alt and an arrow move the focused row, Delete removes it. */
export function PeopleOrder({ draft, nameOf, error, onChange }: PeopleOrderProps) {
  const [typed, setTyped] = useState('');
  const [added, setAdded] = useState(0);
  const list = useRef<HTMLOListElement>(null);
  const id = useId();
  /** Whether Enter was pressed: the first person found is added, now or when the server has answered. */
  const isAwaited = useRef(false);
  const { members: people } = useFoundMembers(typed);
  const { turns } = draft;
  const focusRow = (index: number): void => {
    const row = Math.min(index, turns.length - 1);
    requestAnimationFrame(() => list.current?.querySelectorAll<HTMLElement>('li')[row]?.focus());
  };
  const move = (index: number, by: 1 | -1): void => onChange(withMoved(draft, index, by));
  const remove = (index: number): void => onChange(withoutTurn(draft, index));
  const onKeyDown = (event: KeyboardEvent, index: number): void => {
    const by = event.key === 'ArrowUp' ? -1 : event.key === 'ArrowDown' ? 1 : null;
    if (event.altKey && by !== null) {
      event.preventDefault();
      move(index, by);
      focusRow(Math.max(0, index + by));
    } else if (event.key === 'Delete' && event.target === event.currentTarget) {
      event.preventDefault();
      remove(index);
      focusRow(Math.min(index, turns.length - 2));
    }
  };
  const add = (userId: string): void => {
    onChange(withPerson(draft, userId));
    setTyped('');
    setAdded(added + 1);
  };
  const addAwaited = (): void => {
    const [match] = people;
    if (!isAwaited.current || match === undefined) return;
    isAwaited.current = false;
    add(match.userId);
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
        In this order, then from the beginning. Somebody added twice has two turns.
      </Text>
      {turns.length > 0 && (
        <ol className={classes.list} ref={list} aria-label="Order of turns">
          {turns.map(({ key, userId }, index) => (
            // The row itself takes keys, as its label says.
            // eslint-disable-next-line jsx-a11y/no-noninteractive-element-interactions, jsx-a11y/no-noninteractive-tabindex
            <li key={key} className={classes.person} tabIndex={0} onKeyDown={(event) => onKeyDown(event, index)}>
              <span className={classes.place}>{index + 1}</span>
              <span className={classes.name}>
                <Name>{nameOf(userId)}</Name>
              </span>
              <ActionIcon
                variant="subtle"
                color="gray"
                size={36}
                disabled={index === 0}
                onClick={() => move(index, -1)}
                aria-label={`Move ${nameOf(userId)} up`}
              >
                <IconArrowUp size={16} />
              </ActionIcon>
              <ActionIcon
                variant="subtle"
                color="gray"
                size={36}
                disabled={index === turns.length - 1}
                onClick={() => move(index, 1)}
                aria-label={`Move ${nameOf(userId)} down`}
              >
                <IconArrowDown size={16} />
              </ActionIcon>
              <ActionIcon
                variant="subtle"
                color="gray"
                size={36}
                onClick={() => remove(index)}
                aria-label={`Remove ${nameOf(userId)}`}
              >
                <IconX size={16} />
              </ActionIcon>
            </li>
          ))}
        </ol>
      )}
      <Choice
        // The key makes a new field after each choice, also after Enter before the answer.
        key={added}
        autoFocus={added > 0}
        label="Add a person"
        isLabelHidden
        placeholder="Add a person"
        options={people.map(({ userId, name, role }) => ({ value: userId, label: dutyLabel(name, role) }))}
        value={null}
        onSearch={(text) => {
          isAwaited.current = false;
          setTyped(text);
        }}
        onChange={(userId) => {
          if (userId !== null) add(userId);
        }}
        emptyText="Nobody has this name"
        error={error}
      />
    </div>
  );
}
