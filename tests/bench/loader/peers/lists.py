"""A dataset whose index is a list of many paths, as it usually is: scenario {"entries", "workers", "context"}.

It gives the length of a path alone, so that what is measured is the list: how long workers take to begin, and what
memory they hold as they touch it.
"""

import multiprocessing
import time

import torch
from torch.utils.data import DataLoader, Dataset, RandomSampler

import peer


class Paths(Dataset):
    def __init__(self, entries):
        self.paths = [f"/data/imagenet/train/n{i % 1000:08d}/n{i % 1000:08d}_{i}.JPEG" for i in range(entries)]

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        return len(self.paths[index])


def resident_megabytes():
    """Proportional, of this process and its workers."""
    total = 0.0
    for process in ("self", *(child.pid for child in multiprocessing.active_children())):
        with open(f"/proc/{process}/smaps_rollup", encoding="ascii") as file:
            total += next(int(line.split()[1]) for line in file if line.startswith("Pss:")) / 1024
    return total


def make(scenario):
    torch.set_num_threads(1)
    dataset = Paths(scenario["entries"])

    def loader(**options):
        return DataLoader(dataset, 64, num_workers=scenario["workers"], multiprocessing_context=scenario["context"],
                          **options)

    def act(command):
        if command["do"] == "first":
            begin, cpu = time.perf_counter(), peer.processor_seconds()
            batches = iter(loader(shuffle=True))
            next(batches)
            wall = time.perf_counter() - begin
            cpu = peer.processor_seconds() - cpu
            del batches
            return {"first": wall, "wall": wall, "cpu": cpu}
        some = RandomSampler(dataset, replacement=True, num_samples=command["samples"])
        kept, megabytes = loader(persistent_workers=True, sampler=some), []
        for _ in range(command["epochs"]):
            for batch in kept:
                del batch
            megabytes.append(resident_megabytes())
        return {"megabytes": megabytes}
    return act


if __name__ == "__main__":
    peer.serve(make)
