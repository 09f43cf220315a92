"""Parts of images, as crops and tiles read them alone, are those of the whole, to the bit."""
import json

# Ends this script, too, where there is no Pillow.
from pillow_compare import PLUGIN, SAMPLINGS, by_pillow, check, exif, photo, read, read_folder, run, tool

import numpy as np
from PIL import Image


def partial(folder):
    """Regions of JPEG, of turned images and of other formats are those of the whole, to the bit."""
    for name, sampling in SAMPLINGS.items():
        for progressive in (False, True):
            for restart in (0, 2):
                for width, height in ((37, 35), (131, 99), (17, 40)):
                    kind = dict(width=width, height=height, sampling=sampling, progressive=progressive)
                    kind["restart"] = restart
                    tool("write", folder / f"{name}-{progressive:d}-{restart}-{width}.jpg", json.dumps(kind))
    tool("write", folder / "grey.jpg", json.dumps(dict(width=67, height=35, space="grey")))
    tool("write", folder / "ycck.jpg",
         json.dumps(dict(width=67, height=35, space="ycck", sampling=[[2, 2], [1, 1], [1, 1], [2, 2]])))
    for orientation in range(1, 9):
        Image.fromarray(photo(35, 29, 3)).save(folder / f"turned-{orientation}.jpg", exif=exif(orientation))
        Image.fromarray(photo(21, 17, 3)).save(folder / f"turned-{orientation}.png", exif=exif(orientation))
    told = json.loads(tool("parts", PLUGIN, "image_folder", json.dumps(dict(path=str(folder), labels=False))))
    check(told["different"] == 0 and told["tried"] > 100000, f"regions: {told}")
    return told["tried"]


def tiles(folder):
    """Tiles put together again are the image."""
    image = photo(150, 101, 3)
    Image.fromarray(image).save(folder / "large.png")
    tool("write", folder / "large.jpg", json.dumps(dict(width=150, height=101, sampling=SAMPLINGS["420"])))
    for name in ("large.png", "large.jpg"):
        whole = by_pillow(folder / name, "RGB") if name.endswith("png") else None
        if whole is None:
            (folder / "only").mkdir()
            (folder / "only" / name).write_bytes((folder / name).read_bytes())
            whole = read_folder(folder / "only")[name]["image"]
        told = read("tiles", path=str(folder / name), height=32, width=48, overlap=5)
        seen = np.zeros(whole.shape[:2], int)
        for item in told["items"]:
            top, left = item["origin"]
            seen[top:top + 32, left:left + 48] += 1
            check((item["image"] == whole[top:top + 32, left:left + 48]).all(), f"{name}: tile at {top}, {left}")
        check(len(told["items"]) == 4 * 4 and seen.min() == 1, f"{name}: {len(told['items'])} tiles cover it")


def regions(folder):
    print("regions compared:", partial(folder))


run(regions=regions, tiles=tiles)
