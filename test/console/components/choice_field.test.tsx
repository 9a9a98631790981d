// @vitest-environment happy-dom
import { MantineProvider } from '@mantine/core';
import { act, cleanup, fireEvent, render, screen } from '@testing-library/react';
import { lazy } from 'react';
import { afterEach, expect, test } from 'vitest';

import { ChoiceField } from '#console/components/choice_field.tsx';

afterEach(cleanup);

interface ListProps {
  readonly initialText: string;
  readonly isFocused: boolean;
}

/** A field whose list of choices is delivered by `deliver`. */
function show(text?: string) {
  const file = Promise.withResolvers<{ default: (props: ListProps) => React.ReactNode }>();
  let asked = 0;
  const List = lazy(() => {
    asked += 1;
    return file.promise;
  });
  render(
    <MantineProvider env="test">
      <ChoiceField label="Service" placeholder="All services" onNear={() => {}} {...(text !== undefined && { text })}>
        {(begun) => <List {...begun} />}
      </ChoiceField>
    </MantineProvider>,
  );
  return {
    field: () => screen.getByRole<HTMLInputElement>('combobox', { name: 'Service' }),
    asked: () => asked,
    deliver: () =>
      act(async () =>
        file.resolve({ default: ({ initialText, isFocused }) => <p>{`${initialText} ${String(isFocused)}`}</p> }),
      ),
  };
}

test('a field says what is chosen without the list of choices', () => {
  const { field, asked } = show('checkout');
  expect([field().value, asked()]).toEqual(['checkout', 0]);
});

test('letters that are typed while the list of choices is loading count', async () => {
  const { field, deliver } = show();
  fireEvent.focus(field());
  fireEvent.change(field(), { target: { value: 'pay' } });
  expect(field().value).toBe('pay');
  await deliver();
  expect(screen.getByText('pay true')).toBeTruthy();
});
