"""Peers on images of 32 x 32 in memory: scenario {"peer", "workers", "batch", "file", "whole"}.

pil and v2: a random crop of the image padded by 4, a flip, float32 and normalisation, an image at a time, as the usual
recipes have it. gather: TensorDataset, which only stacks uint8 images.
"""

import numpy as np
import torch
import torchvision.transforms as v1
from PIL import Image
from torch.utils.data import DataLoader, Dataset, TensorDataset
from torchvision.transforms import v2

import peer

MEAN, STD = (0.4914, 0.4822, 0.4465), (0.247, 0.2435, 0.2616)


def make(scenario):
    torch.set_num_threads(1)
    rows = np.fromfile(scenario["file"], np.uint8).reshape(-1, 3073)
    channels_first = torch.from_numpy(rows[:, 1:].reshape(-1, 3, 32, 32).copy())
    channels_last = channels_first.permute(0, 2, 3, 1).contiguous().numpy()
    cut = [] if scenario.get("whole") else [(v1 if scenario["peer"] == "pil" else v2).RandomCrop(32, 4)]
    if scenario["peer"] == "pil":
        flip = [] if scenario.get("whole") else [v1.RandomHorizontalFlip()]
        transform = v1.Compose([*cut, *flip, v1.ToTensor(), v1.Normalize(MEAN, STD)])
    else:
        flip = [] if scenario.get("whole") else [v2.RandomHorizontalFlip()]
        transform = v2.Compose([*cut, *flip, v2.ToDtype(torch.float32, scale=True), v2.Normalize(MEAN, STD)])

    class Images(Dataset):
        def __len__(self):
            return len(rows)

        def __getitem__(self, index):
            if scenario["peer"] == "pil":
                return transform(Image.fromarray(channels_last[index])), index
            return transform(channels_first[index]), index

    gather = scenario["peer"] == "gather"
    dataset = TensorDataset(channels_first, torch.arange(len(rows))) if gather else Images()
    options = {"persistent_workers": True} if scenario["workers"] else {}
    loader = DataLoader(dataset, scenario["batch"], shuffle=not scenario.get("whole"),
                        num_workers=scenario["workers"], **options)

    def act(command):
        if command["do"] == "epoch":
            return peer.epoch(iter(loader))
        pixels = np.concatenate([np.asarray(images) for images, _ in loader])
        pixels.tofile(command["file"])
        return {"samples": len(pixels), "dtype": str(pixels.dtype), "shape": list(pixels.shape)}
    return act


if __name__ == "__main__":
    peer.serve(make)
