import { MantineProvider } from '@mantine/core';
import { cleanup, fireEvent, render, screen, within } from '@testing-library/react';
import { afterEach, describe, expect, test } from 'vitest';

import { type Column, DataTable } from '#console/components/lists/data_table.tsx';

interface Person {
  readonly name: string;
  readonly age: number;
}

const PEOPLE: readonly Person[] = [
  { name: 'Cleo', age: 9 },
  { name: 'anna', age: 41 },
  { name: 'Bram', age: 10 },
];

const COLUMNS: readonly Column<Person>[] = [
  { id: 'name', title: 'Name', isMain: true, sortBy: ({ name }) => name.toLowerCase(), cell: ({ name }) => name },
  { id: 'age', title: 'Age', sortBy: ({ age }) => age, cell: ({ age }) => age },
  { id: 'remove', title: 'Remove', isTitleHidden: true, cell: () => <button type="button">Remove</button> },
];

function show(sortedBy?: { id: string; desc: boolean }): void {
  render(
    <MantineProvider>
      <DataTable
        label="People"
        columns={COLUMNS}
        items={PEOPLE}
        keyOf={({ name }) => name}
        {...(sortedBy !== undefined && { sortedBy })}
      />
    </MantineProvider>,
  );
}

/** The names from top to bottom. */
const names = () =>
  screen
    .getAllByRole('row')
    .slice(1)
    .map((row) => within(row).getAllByRole('cell')[0]!.textContent);

afterEach(cleanup);

describe('a table', () => {
  test('keeps the order of its items until somebody sorts', () => {
    show();
    expect(names()).toEqual(['Cleo', 'anna', 'Bram']);
  });

  test('sorts by a column in both directions, and says so to screen readers', () => {
    show({ id: 'name', desc: false });
    expect(names()).toEqual(['anna', 'Bram', 'Cleo']);
    expect(screen.getByRole('columnheader', { name: 'Name' }).getAttribute('aria-sort')).toBe('ascending');
    fireEvent.click(screen.getByRole('button', { name: 'Name' }));
    expect(names()).toEqual(['Cleo', 'Bram', 'anna']);
    expect(screen.getByRole('columnheader', { name: 'Name' }).getAttribute('aria-sort')).toBe('descending');
  });

  test('sorts numbers by their value', () => {
    show();
    fireEvent.click(screen.getByRole('button', { name: 'Age' }));
    expect(names()).toEqual(['anna', 'Bram', 'Cleo']);
    fireEvent.click(screen.getByRole('button', { name: 'Age' }));
    expect(names()).toEqual(['Cleo', 'Bram', 'anna']);
  });

  test('does not sort by a column without a value to sort by', () => {
    show();
    expect(screen.getAllByRole('columnheader').map((head) => within(head).queryAllByRole('button').length)).toEqual([
      1, 1, 0,
    ]);
  });

  test('labels every cell for a phone, except the heading and buttons', () => {
    show();
    const cells = within(screen.getAllByRole('row')[1]!).getAllByRole('cell');
    expect(cells.map((cell) => cell.textContent)).toEqual(['Cleo', 'Age9', 'Remove']);
  });
});
