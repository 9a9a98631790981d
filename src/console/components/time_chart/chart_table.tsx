import { Button, Table } from '@mantine/core';
import { useState } from 'react';

import { Dialog } from '#console/components/dialog.tsx';
import { Name } from '#console/components/text/name.tsx';
import type { ChartSeries } from '#console/components/time_chart/chart_series.ts';
import { pointTimeText } from '#console/components/time_chart/chart_texts.ts';
import classes from '#console/components/time_chart/time_chart.module.css';

const ROWS = 100;

interface ChartTableProps {
  readonly title: string;
  readonly series: readonly ChartSeries[];
  readonly stepMs: number;
  valueText(value: number): string;
  readonly onClose: () => void;
}

/** Table of the values of a chart, the newest first. */
export function ChartTable({ title, series, stepMs, valueText, onClose }: ChartTableProps) {
  const [shown, setShown] = useState(ROWS);
  const rows = new Map<number, Map<string, number>>();
  for (const { name, times, values } of series) {
    for (const [index, at] of times.entries()) {
      rows.set(at, (rows.get(at) ?? new Map<string, number>()).set(name, values[index] ?? 0));
    }
  }
  const times = [...rows.keys()].sort((a, b) => b - a);
  return (
    <Dialog title={<Name>{title}</Name>} onClose={onClose} isWide>
      <div className={classes.table} role="region" aria-label={`Values of ${title}`} tabIndex={0}>
        <Table verticalSpacing={4} className="numbers" stickyHeader>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Time</Table.Th>
              {series.map(({ name }) => (
                <Table.Th key={name} ta="right">
                  <Name>{name}</Name>
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {times.slice(0, shown).map((at) => (
              <Table.Tr key={at}>
                <Table.Td>{pointTimeText(at, stepMs)}</Table.Td>
                {series.map(({ name }) => {
                  const value = rows.get(at)?.get(name);
                  return (
                    <Table.Td key={name} ta="right">
                      {value === undefined ? '' : valueText(value)}
                    </Table.Td>
                  );
                })}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
        {times.length === 0 && <p>No points in this period.</p>}
        {times.length > shown && (
          <Button variant="default" mt="sm" onClick={() => setShown(shown + ROWS)}>
            Show {Math.min(ROWS, times.length - shown)} more of {times.length - shown}
          </Button>
        )}
      </div>
    </Dialog>
  );
}
