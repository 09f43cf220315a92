"""What is measured: streams of ours, and peers that do the same, in the words of both programs."""

import dataclasses

MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
SMALL_MEAN, SMALL_STD = [0.4914, 0.4822, 0.4465], [0.247, 0.2435, 0.2616]
SIZE = 224


def transform(name, **params):
    return {"plugin": "tenon_image_transforms", "name": name, "params": params}


def stream(dataset, transforms, **loader):
    return {"kind": "stream", "dataset": {"plugin": "tenon_image_datasets"} | dataset, "transforms": transforms,
            "shuffle": True, "workers": 0} | loader


def images(folder, out, workers, whole=False, antialias=True, batch=64, shards=False, **loader):
    """JPEGs, cut and resized at random, and flipped: uint8 [H, W, C], or float32 [C, H, W]. `shards`: out of the tar
    files that this pattern names, in place of those of a folder."""
    fixed = {"scale": [1, 1], "ratio": [4 / 3, 4 / 3]} if whole else {}
    transforms = [transform("random_resized_crop", height=SIZE, width=SIZE, antialias=antialias, **fixed)]
    if not whole:
        transforms.append(transform("random_horizontal_flip"))
    if out == "f32":
        transforms.append(transform("normalize_image", mean=MEAN, std=STD))
    fields = [{"name": "image", "type": "image"}, {"name": "label", "type": "integer", "extensions": ["cls"]}]
    dataset = ({"name": "tar_shards", "params": {"paths": [str(folder)], "fields": fields}} if shards else
               {"name": "image_folder", "params": {"path": str(folder)}})
    return stream(dataset, transforms, batch=batch, workers=workers, shuffle=not whole, **loader)


def small_images(folder, whole=False, plain=False, workers=0):
    """CIFAR in memory: padded by 4 and cut at random, flipped, float32; or nothing at all."""
    cut = [] if whole else [transform("random_crop", height=32, width=32, padding=[4]),
                            transform("random_horizontal_flip")]
    transforms = [] if plain else [*cut, transform("normalize_image", mean=SMALL_MEAN, std=SMALL_STD)]
    return stream({"name": "cifar", "params": {"path": str(folder), "split": "test"}}, transforms, batch=512,
                  workers=workers, shuffle=not whole)


@dataclasses.dataclass(frozen=True)
class ImagePeer:
    """One comparison of row C6, and what it has to come to by the same filter."""

    name: str
    peer: str
    out: str
    must: float
    stretch: float
    antialias: bool = True
    shards: bool = False  # both read tar files


IMAGE_PEERS = [
    ImagePeer("torchvision PIL, f32", "pil", "f32", 2.4, 3.5),
    ImagePeer("torchvision.io + v2, f32", "v2", "f32", 1.8, 2.8),
    ImagePeer("torchvision.io + v2, u8", "v2", "u8", 1.5, 2.0),
    ImagePeer("WebDataset + v2, u8", "webdataset", "u8", 1.4, 1.9, shards=True),
    ImagePeer("DALI CPU, u8", "dali", "u8", 1.4, 2.0),
    ImagePeer("DALI CPU, f32", "dali", "f32", 1.4, 2.0),
    ImagePeer("Python threads + cv2, u8, no antialias", "cv2", "u8", 1.1, 1.4, antialias=False),
]


def peer_images(peer, out, workers, folder, whole=False, batch=64):
    return {"peer": peer, "out": out, "workers": workers, "folder": str(folder), "whole": whole, "batch": batch}
