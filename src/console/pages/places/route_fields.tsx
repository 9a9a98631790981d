import { Button, Group, SimpleGrid, Stack, Text } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';

import { Choice } from '#console/components/forms/choice.tsx';
import { ServicePicker } from '#console/components/forms/service_picker.tsx';
import { TeamPicker } from '#console/components/forms/team_picker.tsx';
import type { Place } from '#console/pages/places/place_texts.ts';
import { LEVELS } from '#modules/exceptions/decide/level.ts';

type Routes = Place['routes'];

interface RouteFieldsProps {
  readonly routes: Routes;
  onChange(routes: Routes): void;
}

/** Fields of the routes of a place. An incident that any of them takes is announced. */
export function RouteFields({ routes, onChange }: RouteFieldsProps) {
  const change = (index: number, changed: Partial<Routes[number]>): void =>
    onChange(routes.map((route, at) => (at === index ? { ...route, ...changed } : route)));
  return (
    <Stack gap="xs">
      <Text size="sm" fw={500}>
        Incidents that it is told of
      </Text>
      {routes.map(({ serviceId, teamId, atLeast }, index) => (
        <SimpleGrid cols={{ base: 1, xs: 3 }} spacing="xs" key={index}>
          <ServicePicker
            label="Service"
            value={serviceId ?? undefined}
            onChange={(chosen) => change(index, { serviceId: chosen ?? null })}
          />
          <TeamPicker
            label="Team"
            placeholder="All teams"
            value={teamId}
            onChange={(chosen) => change(index, { teamId: chosen })}
          />
          <Choice
            label="Severity at least"
            placeholder="Any"
            clearLabel="Any severity"
            options={LEVELS.map((level) => ({ value: level, label: level }))}
            value={atLeast}
            onChange={(chosen) => change(index, { atLeast: LEVELS.find((level) => level === chosen) ?? null })}
          />
        </SimpleGrid>
      ))}
      <Group gap="xs">
        <Button
          variant="default"
          size="xs"
          leftSection={<IconPlus size={14} />}
          onClick={() => onChange([...routes, { serviceId: null, teamId: null, atLeast: null }])}
        >
          Add others
        </Button>
        {routes.length > 1 && (
          <Button variant="subtle" size="xs" onClick={() => onChange(routes.slice(0, -1))}>
            Remove the last
          </Button>
        )}
      </Group>
    </Stack>
  );
}
