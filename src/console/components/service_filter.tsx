import { lazy } from 'react';

import { isolateBidi } from '#console/components/bidi.ts';
import { ChoiceField } from '#console/components/choice_field.tsx';

const loadPicker = () => import('#console/components/service_picker.tsx');
const ServicePicker = lazy(() => loadPicker().then((m) => ({ default: m.ServicePicker })));

interface ServiceFilterProps {
  readonly value: string | undefined;
  /** The name of the service, where the page has it already. */
  readonly name?: string | undefined;
  onChange(serviceId: string | undefined): void;
}

/** Narrows a page to one service. */
export function ServiceFilter({ value, name, onChange }: ServiceFilterProps) {
  return (
    <ChoiceField
      label="Service"
      placeholder="All services"
      isNeeded={value !== undefined && name === undefined}
      onNear={() => void loadPicker()}
      {...(name !== undefined && { text: isolateBidi(name) })}
    >
      {(begun) => <ServicePicker value={value} onChange={onChange} {...begun} />}
    </ChoiceField>
  );
}
