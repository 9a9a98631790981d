import { Choice } from '#console/components/choice.tsx';

const ZONES = Intl.supportedValuesOf('timeZone');

interface ZoneSelectProps {
  readonly value: string;
  readonly onChange: (zone: string) => void;
  readonly description?: string;
  readonly error?: string | undefined;
}

/** A time zone by its IANA name. One that this browser does not know stays. */
export function ZoneSelect({ value, onChange, description, error }: ZoneSelectProps) {
  return (
    <Choice
      label="Time zone"
      description={description}
      options={(ZONES.includes(value) ? ZONES : [value, ...ZONES]).map((zone) => ({ value: zone, label: zone }))}
      value={value}
      onChange={(zone) => zone !== null && onChange(zone)}
      optionsMax={30}
      emptyText="No zone has this name"
      error={error}
    />
  );
}
