import { useState } from 'react';

import { Choice } from '#console/components/forms/choice.tsx';

interface ZoneSelectProps {
  readonly value: string;
  readonly onChange: (zone: string) => void;
  readonly description?: string;
  readonly error?: string | undefined;
}

/** Select of a time zone by its IANA name. A zone that this browser does not know is kept. */
export function ZoneSelect({ value, onChange, description, error }: ZoneSelectProps) {
  const [zones] = useState(() => Intl.supportedValuesOf('timeZone'));
  return (
    <Choice
      label="Time zone"
      description={description}
      options={(zones.includes(value) ? zones : [value, ...zones]).map((zone) => ({ value: zone, label: zone }))}
      value={value}
      onChange={(zone) => zone !== null && onChange(zone)}
      optionsMax={30}
      emptyText="No zone has this name"
      error={error}
    />
  );
}
