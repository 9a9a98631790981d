import { Button } from '@mantine/core';
import { IconBookmark } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import { actionQuery } from '#console/api/queries.ts';
import { ActionMenu } from '#console/components/action_menu.tsx';
import { lazyDialog } from '#console/components/lazy_dialog.tsx';
import { isolateBidi } from '#console/components/text/bidi.ts';
import { type ExceptionFilter, readExceptionFilter } from '#console/pages/exceptions/exception_filter.ts';
import { useOrganization } from '#console/shell/organization.tsx';

const SaveSearchDialog = lazyDialog(() =>
  import('#console/pages/exceptions/search/save_search_dialog.tsx').then((m) => m.SaveSearchDialog),
);

interface SavedSearchesProps {
  readonly filter: ExceptionFilter;
  onChoose(filter: ExceptionFilter): void;
}

/** Most searches in the menu: one's own first. The dialog lists all. */
const SHOWN = 12;

/** Menu of saved searches: one's own, and those that are shared. */
export function SavedSearches({ filter, onChoose }: SavedSearchesProps) {
  const { orgId } = useOrganization().org;
  const [isNear, setIsNear] = useState(false);
  const [isOpen, setIsOpen] = useState(false);
  const { data } = useQuery({ ...actionQuery(orgId, 'exceptions', 'list_saved_searches', {}), enabled: isNear });
  const searches = (data?.searches ?? []).toSorted((a, b) => Number(b.isOwn) - Number(a.isOwn)).slice(0, SHOWN);
  return (
    <div onPointerEnter={() => setIsNear(true)} onFocus={() => setIsNear(true)}>
      <ActionMenu
        button={(props) => (
          <Button variant="default" leftSection={<IconBookmark size={16} />} {...props}>
            Saved
          </Button>
        )}
        entries={[
          ...searches.map(({ name, isShared, filter: saved }) => ({
            text: isShared ? `${isolateBidi(name)} (shared)` : isolateBidi(name),
            onClick: () => onChoose(readExceptionFilter(saved)),
          })),
          { text: 'Save or delete searches …', isApart: searches.length > 0, onClick: () => setIsOpen(true) },
        ]}
      />
      {isOpen && <SaveSearchDialog filter={filter} onClose={() => setIsOpen(false)} />}
    </div>
  );
}
