"""torchdata's StatefulDataLoader, taken up again within an epoch: scenario {"folder", "workers", "batch"}."""

import glob
import time

import torch
from torchdata.stateful_dataloader import StatefulDataLoader
from torchvision.io import ImageReadMode, decode_jpeg, read_file
from torchvision.transforms import v2

import peer

TRANSFORM = v2.Compose([v2.RandomResizedCrop(224, antialias=True), v2.RandomHorizontalFlip()])


class Files(torch.utils.data.Dataset):
    def __init__(self, folder):
        self.paths = sorted(glob.glob(folder + "/*/*.jpg"))

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        return TRANSFORM(decode_jpeg(read_file(self.paths[index]), mode=ImageReadMode.RGB)), index


def make(scenario):
    torch.set_num_threads(1)
    dataset = Files(scenario["folder"])
    straight, states = None, {}

    def loader():
        torch.manual_seed(0)
        return StatefulDataLoader(dataset, scenario["batch"], shuffle=True, num_workers=scenario["workers"])

    def go_straight():
        """One epoch that keeps all states and what its batches were."""
        nonlocal straight
        straight, kept = [], loader()
        for images, _ in kept:
            straight.append(images.sum(dtype=torch.int64).item())
            states[len(straight)] = kept.state_dict()

    def act(command):
        if straight is None:
            go_straight()
        begin, kept = time.perf_counter(), loader()
        if command["batch"]:
            kept.load_state_dict(states[command["batch"]])
        batches = iter(kept)
        sums = [next(batches)[0].sum(dtype=torch.int64).item()]
        first = time.perf_counter() - begin
        sums += [images.sum(dtype=torch.int64).item() for images, _ in batches]
        return {"first": first, "equal": sums == straight[command["batch"]:]}
    return act


if __name__ == "__main__":
    peer.serve(make)
