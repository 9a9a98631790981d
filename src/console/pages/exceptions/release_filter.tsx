import { lazy } from 'react';

import { ChoiceField } from '#console/components/choice_field.tsx';
import type { ReleasePickerProps } from '#console/pages/exceptions/release_picker.tsx';

const loadPicker = () => import('#console/pages/exceptions/release_picker.tsx');
const ReleasePicker = lazy(() => loadPicker().then((m) => ({ default: m.ReleasePicker })));

/** Narrows exceptions to one release. */
export function ReleaseFilter(props: Omit<ReleasePickerProps, 'initialText' | 'isFocused'>) {
  return (
    <ChoiceField
      label="Release"
      placeholder="Any release"
      isNeeded={props.value !== undefined}
      onNear={() => void loadPicker()}
    >
      {(begun) => <ReleasePicker {...props} {...begun} />}
    </ChoiceField>
  );
}
