import { Button, Group, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import type { ReactNode } from 'react';

import type { InputOf } from '#console/api/actions.ts';
import { ServicePicker } from '#console/components/forms/service_picker.tsx';

type Groups = InputOf<'create_status_page'>['groups'];
type Services = Groups[number]['services'];

interface GroupFieldsProps {
  readonly groups: Groups;
  readonly error: ReactNode;
  onChange(groups: Groups): void;
}

/** Fields of the groups of a status page, and of the services in each with their public names. */
export function GroupFields({ groups, error, onChange }: GroupFieldsProps) {
  const change = (index: number, changed: Partial<Groups[number]>): void =>
    onChange(groups.map((group, at) => (at === index ? { ...group, ...changed } : group)));
  return (
    <Stack gap="md">
      {groups.map(({ name, services }, index) => (
        <Stack gap="xs" key={index} component="fieldset" m={0} p={0} bd="none">
          <TextInput
            label={groups.length === 1 ? 'Heading above the services' : `Heading of group ${index + 1}`}
            placeholder="Services"
            maxLength={100}
            value={name}
            onChange={(event) => change(index, { name: event.currentTarget.value })}
          />
          <ServiceFields services={services} onChange={(changed) => change(index, { services: changed })} />
          {index > 0 && (
            <Group gap="xs">
              <Button variant="default" size="xs" onClick={() => onChange(moved(groups, index))}>
                Move the group up
              </Button>
              <Button
                variant="subtle"
                color="red"
                size="xs"
                onClick={() => onChange(groups.filter((_, at) => at !== index))}
              >
                Remove the group
              </Button>
            </Group>
          )}
        </Stack>
      ))}
      {error !== undefined && error !== null && (
        <Text size="sm" c="red" role="alert">
          {error}
        </Text>
      )}
      <Group>
        <Button
          variant="default"
          size="xs"
          leftSection={<IconPlus size={14} />}
          onClick={() => onChange([...groups, { name: '', services: [] }])}
        >
          Add a group
        </Button>
      </Group>
    </Stack>
  );
}

interface ServiceFieldsProps {
  readonly services: Services;
  onChange(services: Services): void;
}

function ServiceFields({ services, onChange }: ServiceFieldsProps) {
  const change = (index: number, changed: Partial<Services[number]>): void =>
    onChange(services.map((service, at) => (at === index ? { ...service, ...changed } : service)));
  return (
    <>
      {services.map(({ serviceId, name }, index) => (
        <Stack gap={4} key={index}>
          <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs">
            <ServicePicker
              label="Service"
              placeholder="Choose a service"
              value={serviceId === '' ? undefined : serviceId}
              onChange={(chosen) => change(index, { serviceId: chosen ?? '' })}
            />
            <TextInput
              label="Public name"
              required
              maxLength={100}
              value={name}
              onChange={(event) => change(index, { name: event.currentTarget.value })}
            />
          </SimpleGrid>
          <Group gap="xs">
            {index > 0 && (
              <Button variant="subtle" size="xs" onClick={() => onChange(moved(services, index))}>
                Move up
              </Button>
            )}
            <Button
              variant="subtle"
              size="xs"
              color="red"
              onClick={() => onChange(services.filter((_, at) => at !== index))}
            >
              Remove
            </Button>
          </Group>
        </Stack>
      ))}
      <Group>
        <Button
          variant="default"
          size="xs"
          leftSection={<IconPlus size={14} />}
          onClick={() => onChange([...services, { serviceId: '', name: '' }])}
        >
          Add a service
        </Button>
      </Group>
    </>
  );
}

/** Returns the list with an item moved before the one that was before it. */
function moved<Item>(items: readonly Item[], index: number): Item[] {
  const next = [...items];
  next.splice(index - 1, 0, ...next.splice(index, 1));
  return next;
}
