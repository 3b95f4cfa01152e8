/**
 * Limits of a store. Bytes unless the name says files. All stores and processes that use the same folder are counted
 * together.
 */
export interface ResourceStoreQuota {
  /** Largest file; 256 MiB unless set. */
  readonly fileBytes: number;
  /** All files of one owner; 1 GiB unless set. */
  readonly ownerBytes: number;
  /** Number of files of one owner; 1000 unless set. */
  readonly ownerFiles: number;
  /** All files of the store; 10 GiB unless set. */
  readonly totalBytes: number;
}

const DEFAULT_QUOTA: ResourceStoreQuota = {
  fileBytes: 256 * 1024 ** 2,
  ownerBytes: 1024 ** 3,
  ownerFiles: 1000,
  totalBytes: 10 * 1024 ** 3,
};

/** Fills in the limits that are not set; throws for those that would limit nothing by mistake. */
export function checkQuota(quota: Partial<ResourceStoreQuota> = {}): ResourceStoreQuota {
  const wrong = Object.entries(quota).find(([, limit]) => !(limit >= 0));
  if (wrong !== undefined)
    throw new Error(`quota.${wrong[0]} ${wrong[1]} must be a number from 0, or Infinity`);
  return { ...DEFAULT_QUOTA, ...quota };
}

/** A file that exceeds a limit of the store. The message may be shown to the user; it names no path. */
export class FileQuotaError extends Error {
  readonly code = 'QUOTA_EXCEEDED';
  readonly status = 413;

  constructor(message: string) {
    super(message);
    this.name = 'FileQuotaError';
  }
}

/** Bytes in use, by record name, as one process knows them. */
export interface StoreUsage {
  /** Sets the size of a file that grows; throws and changes nothing where that would exceed a limit. */
  grow(name: string, owner: string, bytes: number): void;
  /** Sets the size of a file that exists. */
  set(name: string, owner: string, bytes: number): void;
  delete(name: string): void;
  /** Undefined for a file that is not counted. */
  bytesOf(name: string): number | undefined;
  names(): string[];
  size(): number;
}

export function createStoreUsage(quota: ResourceStoreQuota): StoreUsage {
  const files = new Map<string, { owner: string; bytes: number }>();
  const owners = new Map<string, { bytes: number; files: number }>();
  let total = 0;

  const remove = (name: string): void => {
    const file = files.get(name);
    if (file === undefined) return;
    files.delete(name);
    total -= file.bytes;
    const before = owners.get(file.owner) ?? { bytes: 0, files: 1 };
    if (before.files === 1) owners.delete(file.owner);
    else owners.set(file.owner, { bytes: before.bytes - file.bytes, files: before.files - 1 });
  };

  const set = (name: string, owner: string, bytes: number): void => {
    remove(name);
    files.set(name, { owner, bytes });
    total += bytes;
    const before = owners.get(owner) ?? { bytes: 0, files: 0 };
    owners.set(owner, { bytes: before.bytes + bytes, files: before.files + 1 });
  };

  const grow = (name: string, owner: string, bytes: number): void => {
    const before = files.get(name);
    set(name, owner, bytes);
    const used = owners.get(owner) ?? { bytes: 0, files: 0 };
    const problem = excess(quota, {
      fileBytes: bytes,
      ownerBytes: used.bytes,
      ownerFiles: used.files,
      totalBytes: total,
    });
    if (problem === undefined) return;
    if (before === undefined) remove(name);
    else set(name, owner, before.bytes);
    throw new FileQuotaError(problem);
  };

  return {
    grow,
    set,
    delete: remove,
    bytesOf: (name) => files.get(name)?.bytes,
    names: () => [...files.keys()],
    size: () => files.size,
  };
}

function excess(quota: ResourceStoreQuota, used: ResourceStoreQuota): string | undefined {
  if (used.fileBytes > quota.fileBytes)
    return `The file has more than ${quota.fileBytes} bytes, the limit of one file: write less, or raise "quota.fileBytes"`;
  if (used.ownerFiles > quota.ownerFiles)
    return `Its owner already has ${quota.ownerFiles} files, the limit: remove some, or raise "quota.ownerFiles"`;
  if (used.ownerBytes > quota.ownerBytes)
    return `The files of its owner would exceed ${quota.ownerBytes} bytes: remove some, or raise "quota.ownerBytes"`;
  if (used.totalBytes > quota.totalBytes)
    return `The files of the store would exceed ${quota.totalBytes} bytes: remove some, or raise "quota.totalBytes"`;
  return undefined;
}
