"""Batches of 64 x 3 x 224 x 224 that a worker hands over without ever writing to them: scenario {"dtype", "items"}."""

import time

import torch
from torch.utils.data import DataLoader, Dataset

import peer


class Untouched(Dataset):
    def __init__(self, dtype, items):
        self.dtype, self.items = dtype, items

    def __len__(self):
        return self.items

    def __getitem__(self, index):
        return torch.empty(64, 3, 224, 224, dtype=self.dtype)


def make(scenario):
    torch.set_num_threads(1)
    dataset = Untouched(torch.float32 if scenario["dtype"] == "f32" else torch.uint8, scenario["items"])
    loader = DataLoader(dataset, batch_size=None, num_workers=1, persistent_workers=True)

    def act(_command):
        cpu, begin, samples = peer.processor_seconds(), time.perf_counter(), 0
        for _ in loader:
            samples += 1
        return {"samples": samples, "wall": time.perf_counter() - begin, "cpu": peer.processor_seconds() - cpu}
    return act


if __name__ == "__main__":
    peer.serve(make)
