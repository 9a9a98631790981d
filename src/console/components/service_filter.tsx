import { TextInput } from '@mantine/core';
import { lazy, Suspense, useState } from 'react';

const loadPicker = () => import('#console/components/service_picker.tsx');
const ServicePicker = lazy(() => loadPicker().then((m) => ({ default: m.ServicePicker })));

interface ServiceFilterProps {
  readonly value: string | undefined;
  onChange(serviceId: string | undefined): void;
}

/** Narrows a list to one service. What lists of choices are made of is loaded when somebody goes there; letters typed meanwhile count. */
export function ServiceFilter({ value, onChange }: ServiceFilterProps) {
  const [typed, setTyped] = useState('');
  const [isFocused, setIsFocused] = useState(false);
  const [isWanted, setIsWanted] = useState(value !== undefined);
  const field = (
    <TextInput
      role="combobox"
      aria-label="Service"
      aria-expanded={false}
      placeholder="All services"
      value={typed}
      onChange={(event) => setTyped(event.currentTarget.value)}
      onPointerEnter={() => void loadPicker()}
      onFocus={() => {
        setIsFocused(true);
        setIsWanted(true);
      }}
      onBlur={() => setIsFocused(false)}
    />
  );
  if (!isWanted && value === undefined) return field;
  return (
    <Suspense fallback={field}>
      <ServicePicker value={value} onChange={onChange} initialText={typed} isFocused={isFocused} />
    </Suspense>
  );
}
